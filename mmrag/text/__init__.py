"""Reading text: one normal form, numbers and units, scripts, words; for agents and judges alike."""


def comma_list(text: str) -> list[str]:
    """What stands between commas, without blanks.

    >>> comma_list("named, told,")
    ['named', 'told']
    """
    return [part.strip() for part in text.split(",") if part.strip()]
