"""Units of measure by every name people give them: kind, factor to the base unit, offset."""

from __future__ import annotations

MONEY = {
    "$": "money:$", "€": "money:€", "£": "money:£", "¥": "money:¥", "₹": "money:₹",
    "usd": "money:$", "eur": "money:€", "gbp": "money:£", "rs": "money:₹",
}  # fmt: skip
"""Signs that stand before an amount."""

COUNTED = frozenset({"percent", "money:$", "money:€", "money:£", "money:¥", "money:₹"})
"""Kinds that have no measuring tolerance: what is counted is counted exactly, or rounded."""

_LINES = """
length 1 m metre metres meter meters
length 1000 km kms kilometre kilometres kilometer kilometers
length 0.01 cm centimetre centimetres centimeter centimeters
length 0.001 mm millimetre millimetres millimeter millimeters
length 1609.344 mi mile miles
length 0.3048 ft foot feet
length 0.0254 inch inches
length 0.9144 yd yard yards
length 9.4607e15 light_year light_years
mass 1 kg kgs kilogram kilograms kilo kilos
mass 0.001 g gram grams
mass 0.000001 mg milligram milligrams
mass 0.45359237 lb lbs pound pounds
mass 0.028349523 oz ounce ounces
mass 1000 tonne tonnes metric_ton metric_tons
mass 907.18474 ton tons
mass 6.35029 stone
volume 1 l litre litres liter liters
volume 0.001 ml millilitre millilitres milliliter milliliters
volume 0.01 cl centilitre centilitres centiliter centiliters
volume 3.785411784 gallon gallons gal
volume 0.946353 quart quarts
volume 0.473176 pint pints
volume 0.0295735 fl_oz fluid_ounce fluid_ounces
volume 0.236588 cup cups
time 1 s sec secs second seconds
time 60 min mins minute minutes
time 3600 h hr hrs hour hours
time 86400 day days
time 604800 week weeks
time 2629746 month months
time 31556952 year years yr yrs
time 315569520 decade decades
time 3155695200 century centuries
speed 0.2777777777777778 kmh kph kmph
speed 0.44704 mph
speed 0.514444 knot knots kn
area 10000 hectare hectares ha
area 4046.856 acre acres
energy 1 kj kilojoule kilojoules
energy 4.184 kcal kilocalories calorie calories
power 1 kw kilowatt kilowatts
power 0.745699872 hp bhp horsepower
power 0.001 w watt watts
power 1000 mw megawatt megawatts
percent 1 % percent per_cent pct percentage
power 1000000 gw gigawatt gigawatts
energy 3600 kwh kilowatt_hour kilowatt_hours
energy 3.6 wh watt_hour watt_hours
voltage 1 v volt volts
voltage 1000 kv kilovolt kilovolts
voltage 0.001 millivolt millivolts
current 1 amp amps ampere amperes
current 0.001 milliamp milliamps milliampere milliamperes
charge 1 ah amp_hour amp_hours
charge 0.001 mah milliamp_hour milliamp_hours
frequency 1 hz hertz
frequency 1000 khz kilohertz
frequency 1000000 mhz megahertz
frequency 1000000000 ghz gigahertz
pressure 1 pa pascal pascals
pressure 100 hpa hectopascal hectopascals mbar millibar millibars
pressure 1000 kpa kilopascal kilopascals
pressure 100000 bar bars
pressure 101325 atm atmosphere atmospheres
pressure 6894.757 psi
data 1 gb gigabyte gigabytes
data 0.001 mb megabyte megabytes
data 1000 tb terabyte terabytes
money:$ 1 dollar dollars usd us_dollars
money:$ 0.01 cent cents
money:€ 1 euro euros eur
money:£ 1 gbp pounds_sterling
money:¥ 1 yen jpy
money:₹ 1 rupee rupees inr
temperature 1 c celsius degree_celsius degrees_celsius degrees_c °_c °_celsius
temperature 0.5555555555555556 f fahrenheit degrees_fahrenheit degree_fahrenheit degrees_f °_f
temperature 0.5555555555555556 °_fahrenheit
temperature 1 kelvin kelvins
"""


def _read() -> dict[str, tuple[str, float, float]]:
    table: dict[str, tuple[str, float, float]] = {}
    for line in _LINES.split("\n"):
        if line:
            kind, factor, *names = line.split()
            value = float(factor)
            offset = 0.0
            if kind == "temperature":
                offset = -273.15 if "kelvin" in names else -32.0 if value < 1 else 0.0
            table |= {name.replace("_", " "): (kind, value, offset) for name in names}
    return table | _composed(table)


def _composed(table: dict[str, tuple[str, float, float]]) -> dict[str, tuple[str, float, float]]:
    """Lengths squared, cubed and by time, in all the ways that people say them."""
    found: dict[str, tuple[str, float, float]] = {}
    of = {kind: [n for n, u in table.items() if u[0] == kind] for kind in ("length", "time")}
    for name in of["length"]:
        size = table[name][1]
        forms = [f"{name} {way}" for way in ("squared", "2", "cubed", "3")]
        for form in (f"square {name}", f"sq {name}", *forms[: 2 if name in _SHORT else 1]):
            found[form] = ("area", size**2, 0.0)
        for form in (f"cubic {name}", f"cu {name}", *forms[2 : 4 if name in _SHORT else 3]):
            found[form] = ("volume", 1000 * size**3, 0.0)
        for per in of["time"]:
            for way in (" ", " per ", " a ", " an "):
                found[f"{name}{way}{per}"] = ("speed", size / table[per][1], 0.0)
    return found


_SHORT = frozenset({"m", "km", "cm", "mm"})
"""Names behind which a small raised figure is an exponent; "5 ft 2" is a height."""
UNITS = _read()
"""Name → kind, factor, offset: value in the base unit = (number + offset) · factor."""
