"""Draws the table of backup_workers as docs/pictures/backup_workers.svg: plot.py < TABLE > FILE."""

import csv
import sys

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 640, 360, 60, 50, 40


def polyline(points, colour):
    path = " ".join("%.1f,%.1f" % p for p in points)
    dots = "".join('<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (x, y, colour) for x, y in points)
    return '<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>%s' % (path, colour, dots)


def main():
    rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(sys.stdin)]
    most = max(r["backups"] for r in rows)
    x = lambda backups: LEFT + (WIDTH - 2 * LEFT) * backups / most
    y = lambda share: HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * share
    print('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">' % (WIDTH, HEIGHT))
    print('<rect width="%d" height="%d" fill="white"/>' % (WIDTH, HEIGHT))
    print('<text x="%d" y="20" font-size="14">%d simulated workers: throughput against backup workers</text>' % (LEFT, rows[0]["workers"]))
    series = (("gradients_per_s", "#1f77b4", "gradients/s", LEFT - 8, "end"), ("updates_per_s", "#d62728", "updates/s", WIDTH - LEFT + 8, "start"))
    for i, (key, colour, label, at, anchor) in enumerate(series):
        top = max(r[key] for r in rows) * 1.1
        for k in range(5):
            value = top * k / 4
            print('<text x="%d" y="%.1f" fill="%s" text-anchor="%s">%.3g</text>' % (at, y(k / 4) + 4, colour, anchor, value))
        print(polyline([(x(r["backups"]), y(r[key] / top)) for r in rows], colour))
        print('<text x="%d" y="%d" fill="%s">%s</text>' % (LEFT + 110 * i, TOP - 4, colour, label))
    for k in range(5):
        print('<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#ddd"/>' % (LEFT, y(k / 4), WIDTH - LEFT, y(k / 4)))
    ticks = sorted({r["backups"] for r in rows})
    for b in [t for i, t in enumerate(ticks) if t in (0, 8, 16, 32, 48, 64) or t == most]:
        print('<text x="%.1f" y="%d" text-anchor="middle">%d</text>' % (x(b), HEIGHT - BOTTOM + 18, b))
    print('<text x="%d" y="%d" text-anchor="middle">backup workers</text></svg>' % (WIDTH / 2, HEIGHT - 10))


if __name__ == "__main__":
    main()
