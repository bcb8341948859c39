"""Patterns of refusals that `normalise.py` looks for: in other languages, and rarer English."""

from __future__ import annotations

import re

ENGLISH = re.compile(r"(?i)\b(?:the|and|of|by|to|with|that|this|it's|i'm)\b")
"""Words that a refusal in another language is taken not to hold; they spare a longer search."""

FOREIGN = re.compile(
    r"""(?ix)
      \bje\ (?:ne\ )?(?:le\ )?(?:sais|peux|puis|suis)\ pas\b | \bj'?ignore\b | \bdésolée?\b
        | \baucune\ (?:\w+\ )?idée\b | \bpas\ (?:la\ \w+\ )?(?:idée|sûre?|certaine?)\b
        | \bimpossible\ (?:de|à)\ (?:dire|savoir)\b | \bsaurais\ (?:pas\ )?(?:le\ )?dire\b
    | \blo\ siento\b | \bno\ (?:lo\ )?sé\b | \bno\ (?:te\ |lo\ |se\ )?(?:puedo|puede|sabría)\b
        | \bni\ (?:\w+\ ){0,2}idea\b | \bprefiero\ no\b | \bno\ (?:estoy\ segur[oa]|recuerdo)\b
    | \bwei(?:ß|ss)\ (?:\w+\ ){0,2}nicht\b | \b(?:nicht|nichts)\ (?:sagen|wissen|erkennen)\b
        | \bkein(?:e|en|erlei)\ (?:\w+\ )?(?:ahnung|blassen)\b | \bleider\ nicht\b
        | \b(?:kann|könnte)\b.{0,60}\b(?:nicht|nichts)\b | \bnicht\ sicher\b
        | \bbin\ (?:mir\ )?(?:un|über)\w+\b
    | \bnon\ (?:lo\ |ne\ )?(?:so|ho\ (?:\w+\ ){0,3}idea|saprei|posso|ricordo)\b
        | \bmi\ dispiace\b | \bpreferisco\ non\b | \bnon\ sono\ sicur[oa]\b
    | \bn[ãa]o\ (?:sei|posso|consigo|saberia|(?:faço|tenho)\ (?:\w+\ ){0,2}ideia)\b
        | \bdesculpe?\b | \bsem\ ideia\b
    | \bweet\ (?:\w+\ ){0,2}niet\b | \bgeen\ (?:\w+\ )?idee\b | \bniet\ zeker\b
        | \bkan\ (?:ik|dat)\b.{0,60}\bniet\b | \bzou\ het\ niet\ weten\b
    | \bnie\ (?:wiem|mogę|potrafię|jestem\ pew\w+|mam\ (?:\w+\ )?pojęcia)\b | \btrudno\ powiedzieć\b
    | \bne\ znam\b | \bžao\ mi\ je\b | \bne?(?:vím|tuším)\b | \bnemám\ \w+\b | \bneviem\b
    | \bnem\ tudom\b | \bfogalmam\ sincs\b | \bnu\ [șsş]tiu\b | \bhabar\ n-?am\b
    | \bv(?:et|ed)\ (?:\w+\ ){0,2}(?:inte|ikke|ikkje)\b | \baner\ (?:\w+\ )?(?:inte|ikke)\b
        | \bingen\ (?:aning|anelse)\b | \ben\ (?:tiedä|osaa\ sanoa)\b | \baavistustakaan\b
    | не\ (?:знаю|могу|уверена?|можу|в\ курсе) | понятия | затрудняюсь | к\ сожалению | гадки\ не
        | не\ (?:знам|мога)
    | 不\ ?知道 | 不\ ?清楚 | 不太\ ?清楚 | 不\ ?晓得 | 不好\ ?说 | 看不\ ?清
        | 抱歉 | 不\ ?[确確]定
        | (?:无法|没法|無法)\ ?(?:回答|推断|确定|判断|得知|知道|识别|確定|判斷|辨认)
        | (?:没有|未)\ ?提\ ?(?:到|及)
    | [分わ判解](?:か|)り(?:ません|かね)|わからない|分からない|知りません
        |存じ(?:ません|上げません)|申し訳|答えられ
    | 모르겠 | 모릅니다 | 몰라 | 알\ ?수\ ?없 | 확실하지\ 않
    | لا\ (?:أعرف|أعلم|ادري|أدري|اعرف|اعلم|أستطيع) | لست\ (?:متأكد|واثق) | نمی.?دانم | ليس\ لدي
    | \bbilmiyorum\b | \bfikrim\ yok\b | \bemin\ değilim\b | \bbilemiyorum\b
    | ไม่(?:รู้|ทราบ|แน่ใจ) | नहीं\ (?:पता|जानत|मालूम|बता) | (?:पता|मालूम)\ नहीं | जानकारी\ नहीं
    | δεν\ (?:ξέρω|γνωρίζω|είμαι\ σίγουρ) | ιδέα | không\ (?:biết|rõ|chắc) | לא\ יודע
      | אין\ לי\ מושג
    | \btidak\ (?:tahu|yakin)\b | \b(?:sijui|hindi\ ko\ alam)\b
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
    | (?:hard|impossible|too\s+early|difficult)\s+(?:for\s+me\s+)?to\s+(?:say|predict|tell|read
      |see|count)
    | (?:more|other)\b.{0,30}\bthan\s+i\s+(?:can|could)\b
    | i\s+could\s+only\s+guess | too\s+(?:\w+\s+){1,8}?for\s+me\s+to\s+(?:read|see|tell|count
      |say|make)
    | (?:is|are)\s+too\s+(?:blurred|blurry|dark|worn|small|faint|far)\b | (?:would
      |will)\s+be\s+needed\s+before\s+i\s+can
    | ^\W*(?:can't|cannot|couldn't|can\s+not)\s+(?:make|tell|see|read|say|help|identify|find)
    | (?:need|needs|needed|want)\s+a\s+(?:\w+er|better)\s+(?:look|picture|photo|image|view)
    | (?:picture|image|photo|text|page|sign|label|source)s?\s+(?:does|do)(?:n't|\s+not)\s+(?:show
      |tell|reveal|give|include)
    | i(?:'m|\s+am)\s+not\s+(?:allowed|permitted|supposed|in\s+a\s+position)\s+to
    | i\s+only\s+know\s+(?:the|about|that|of)\b | i\s+refuse\s+to | i\s+have\s+to\s+pass
      | i'll\s+pass\b
    | i\s+can't\s+view | (?:isn't|is\s+not|aren't)\s+available | i\s+(?:am|'m)\s+not\s+(?:going
      |willing)\s+to\s+(?:answer|say|guess)
    )"""
)
