"""Refusals in other languages, and English ones that name no knowledge or ability."""

from __future__ import annotations

import re

FOREIGN_CUES = (
    "sais pas", "mesure de", "peux pas", "puis pas", "désolé", "lo siento", "no lo sé", "no sé",
    "no puedo", "weiß", "weiss",
    "leider", "keine ahnung", "non lo so", "non so", "dispiace", "posso", "não sei", "desculp",
    "nao sei", "weet", "geen idee",
    "kan ik", "wiem", "ne znam", "žao", "не зна", "не могу", "сожалени",
    "知", "无法", "抱歉", "提到", "提及", "确定", "清楚", "わか", "分か",
    "申し訳", "모르", "몰라",
    "أعرف", "ادري", "أعلم", "bilm", "vet inte", "vet ikke", "ved ikke", "en tiedä", "ไม่รู้",
    "ไม่ทราบ", "नहीं", "δεν ξ", "δεν γ", "nevím",
    "tudom", "không biết", "nie potrafi", "nu știu", "nu stiu", "לא יודע", "prefiero no",
    "preferisco", "tidak tahu",
)  # fmt: skip
"""One of these stands in every foreign refusal that is known."""

FOREIGN = re.compile(
    r"""(?ix)
      \bje\ (?:ne\ )?(?:le\ )?(?:sais|peux|puis|suis)\ pas\b | \bj'?ignore\b | \bdésolée?\b
        | \baucune\ idée\b
    | \blo\ siento\b | \bno\ (?:lo\ )?sé\b | \bno\ (?:te\ |lo\ )?puedo\b | \bni\ idea\b
      | \bprefiero\ no\b
    | \b(?:ich\ )?wei(?:ß|ss)\ (?:es\ |das\ )?(?:leider\ )?nicht\b | \bkeine\ ahnung\b
      | \b(?:kann|könnte)\b.{0,60}\b(?:nicht|nichts)\b | \bleider\ nicht\b
    | \bnon\ (?:lo\ )?so\b | \bmi\ dispiace\b | \bnon\ posso\b | \bpreferisco\ non\b
    | \bn[ãa]o\ (?:sei|posso|consigo)\b | \bdesculpe?\b
    | \b(?:ik\ )?weet\ (?:het|ik|dat)?\ ?niet\b | \bgeen\ idee\b | \bkan\ ik\b.{0,60}\bniet\b
    | \bnie\ (?:wiem|mogę|potrafię)\b | \bne\ znam\b | \bžao\ mi\ je\b | \bnevím\b
      | \bnem\ tudom\b | \bnu\ [șs]tiu\b
    | не\ знаю | не\ могу | к\ сожалению
    | 不\ ?知道 | 不\ ?清楚 | 无法\ ?(?:回答|推断|确定|判断|得知|知道|识别) | 抱歉 | 不\ ?确定
    | (?:没有|未)\ ?提\ ?(?:到|及) | わかりません | 分かりません | わからない
    | 知りません | 申し訳 | 모르겠 | 몰라요 | 모릅니다
    | لا\ أعرف | لا\ أعلم | لا\ ادري | لا\ أدري | \bbilmiyorum\b | \bvet\ inte\b | \b(?:vet
      |ved)\ ikke\b | \ben\ tiedä\b
    | ไม่รู้ | ไม่ทราบ | नहीं\ (?:पता|जानत|मालूम) | पता\ नहीं | मालूम\ नहीं | δεν\ (?:ξέρω
      |γνωρίζω) | không\ biết | לא\ יודע | \btidak\ tahu\b
    """
)
FOREIGN_BUT = re.compile(
    r"(?i)\b(?:mais|pero|aber|maar|ale|mas|ma|men|но|але|doch|però)\b|但|不过|\d"
)
"""What turns a foreign refusal into an answer."""
MORE = re.compile(
    r"""(?ix)\b(?:
      i\s*(?:'d|\s+would)\s+(?:rather|prefer|better)\s+(?:not\b|leave\b) | i\s*(?:'d
        |\s+had)\s+better\s+leave
    | i\s+(?:couldn't|could\s+not|can't|cannot|won't|will\s+not
      |wouldn't)\s+(?:\w+\s+){0,2}?(?:say|decide|judge|guess|name|tell|read|count|decipher
      |choose|commit|pick)\b
    | which\b.{0,40}\bi\s+(?:can't|cannot|couldn't)\s+(?:tell|say)
    | (?:is|are|it's|remains?)\s+(?:\w+\s+)?(?:unknown|a\s+mystery)\s+to\s+me | i\s+(?:don't
      |do\s+not|can't)\s+recall\b
    | nobody\s+can\s+(?:say|tell|know|predict)
    | (?:hard|impossible|too\s+early)\s+to\s+(?:say|predict|tell)\s+(?:the|who|what|how|which|when)
    | i\s+could\s+only\s+guess | too\s+(?:\w+\s+){1,4}?for\s+me\s+to\s+(?:read|see|tell|count
      |say|make)
    | (?:is|are)\s+too\s+(?:blurred|blurry|dark|worn|small|faint|far)\b | (?:would
      |will)\s+be\s+needed\s+before\s+i\s+can
    | i\s+only\s+know\s+(?:the|about|that|of)\b | i\s+refuse\s+to | i\s+have\s+to\s+pass
      | i'll\s+pass\b
    | i\s+can't\s+view | (?:isn't|is\s+not|aren't)\s+available | i\s+(?:am|'m)\s+not\s+(?:going
      |willing)\s+to\s+(?:answer|say|guess)
    )"""
)
