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
volume 1000 cubic_metre cubic_metres cubic_meter cubic_meters
time 1 s sec secs second seconds
time 60 min mins minute minutes
time 3600 h hr hrs hour hours
time 86400 day days
time 604800 week weeks
time 2629746 month months
time 31556952 year years yr yrs
time 315569520 decade decades
time 3155695200 century centuries
speed 0.2777777777777778 km_h kmh kph kmph km_per_hour kilometres_per_hour kilometers_per_hour
speed 0.44704 mph miles_per_hour mi_h miles_an_hour
speed 1 m_s metres_per_second meters_per_second
speed 0.514444 knot knots kn
area 1 square_metre square_metres square_meter square_meters sq_m
area 1000000 square_kilometre square_kilometres square_kilometer square_kilometers sq_km
area 2589988.11 square_mile square_miles sq_mi sq_miles
area 10000 hectare hectares ha
area 4046.856 acre acres
area 0.09290304 square_foot square_feet sq_ft
energy 1 kj kilojoule kilojoules
energy 4.184 kcal kilocalories calorie calories
power 1 kw kilowatt kilowatts
power 0.745699872 hp bhp horsepower
power 0.001 w watt watts
power 1000 mw megawatt megawatts
percent 1 % percent per_cent pct percentage
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
    return table


UNITS = _read()
"""Name → kind, factor, offset: value in the base unit = (number + offset) · factor."""
