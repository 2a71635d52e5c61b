"""What the rounds of two builds say: ratios, their noise, and whether that shows anything."""

import statistics

LEAST_NOISE = 0.02
MOST_NOISE = 0.03  # a ratio that is less certain shows nothing


def noise(ratios):
    """What the medians of the odd and the even rounds differ by."""
    if len(ratios) < 2:
        return float("inf")
    halves = [statistics.median(ratios[k::2]) for k in (0, 1)]
    return max(LEAST_NOISE, abs(halves[0] - halves[1]))


def ways_of(now, before):
    """{way: figures} of the ways that both have; now and before: {way: seconds of each round}."""
    ways = {}
    for way in sorted(now.keys() & before.keys()):
        ratios = [a / b for a, b in zip(now[way], before[way])]
        ways[way] = {
            "now": statistics.median(now[way]),
            "before": statistics.median(before[way]),
            "ratio": statistics.median(ratios),
            "noise": noise(ratios),
            "rounds": len(ratios),
        }
    return ways


def noisy(ways):
    return [way for way, t in ways.items() if t["noise"] > MOST_NOISE]


def problems(now, before, most):
    """Why these rounds do not show that now is at most `most` times before; nothing if they do."""
    ways = ways_of(now, before)
    found = [f"timed on one side only: {way or 'it'}" for way in sorted(now.keys() ^ before.keys())]
    if not ways:
        found.append("nothing was timed on both sides")
    uncertain = noisy(ways)
    for way, t in ways.items():
        if way in uncertain:
            found.append(
                f"{way or 'it'} is not shown: noise {t['noise']:.3f} after {t['rounds']} rounds, "
                f"at most {MOST_NOISE}"
            )
        elif t["ratio"] - t["noise"] > most:
            found.append(f"{way or 'it'} takes {t['ratio']:.3f} of the time, at most {most}")
    return found
