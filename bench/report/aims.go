package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/rolemanager/rolemanager/bench/figures"
)

// verdict says whether what is aimed at was reached; nothing was measured where it is 0.
type verdict int

const (
	met verdict = iota + 1
	missed
)

func judge(measured float64, ok bool) verdict {
	switch {
	case math.IsNaN(measured):
		return 0
	case ok:
		return met
	}
	return missed
}

// reached is the verdict on all that is aimed at in one line.
func reached(all ...verdict) string {
	switch {
	case slices.Contains(all, missed):
		return "**missed**"
	case slices.Contains(all, 0):
		return "–"
	}
	return "reached"
}

// atMost and atLeast compare the median of a figure of a Go benchmark with what is aimed at.
func (s *source) atMost(name, unit string, aim float64) verdict {
	v := s.goSample(name, unit, nil).median()
	return judge(v, v <= aim)
}

func (s *source) atLeast(name, unit string, aim float64) verdict {
	v := s.goSample(name, unit, nil).median()
	return judge(v, v >= aim)
}

// largest is the worst of what this library was measured with in the comparison or in growth, at
// one size, and of how many.
func (s *source) largest(part, job, figure string, n int) string {
	return s.largestMode(part, job, "", figure, n)
}

func (s *source) largestMode(part, job, mode, figure string, n int) string {
	v := s.parts()[part].where(job, ours, mode, figure, n).values()
	if len(v) < 2 {
		return number(v.largest())
	}
	return fmt.Sprintf("%s (of %d)", number(v.largest()), len(v))
}

// within compares the worst with what is aimed at.
func (s *source) within(part, job, figure string, n int, aim float64) verdict {
	return s.withinMode(part, job, "", figure, n, aim)
}

func (s *source) withinMode(part, job, mode, figure string, n int, aim float64) verdict {
	v := s.parts()[part].where(job, ours, mode, figure, n).values().largest()
	return judge(v, v <= aim)
}

// lead is what this library's median of a figure of tasks is of that of the best peer, on buffered
// stores; nothing where a peer is missing.
func (s *source) lead(figure string) float64 {
	if len(s.tasks.where("throughput", "", "", "left-out", -1))+len(s.tasks.where("throughput", "", "", "failed", -1)) >
		0 {
		return math.NaN()
	}
	best, rows := 0.0, s.tasks.where("throughput", "", "buffered", figure, -1)
	for _, peer := range rows.peers() {
		if peer != ours {
			best = max(best, rows.where("", peer, "", "", -1).values().median())
		}
	}
	if best == 0 {
		return math.NaN()
	}
	return rows.where("", ours, "", "", -1).values().median() / best
}

// ahead says whether that is more than the best peer's.
func (s *source) ahead(figure string) verdict {
	v := s.lead(figure)
	return judge(v, v > 1)
}

// idleBound is what all who have nothing to do may write a second together, however many they are.
const idleBound = 50

// restAim is a line on traffic at rest: of the most that were measured of one axis.
func (s *source) restAim(axis, what string) string {
	n, v, all, leaders := 0, math.NaN(), math.NaN(), 0.0
	if note := s.failed(axis); note != "" { // of a size that was wanted nothing is known
		return fmt.Sprintf("| writes at rest, %s | – | ≤ leaders ÷ heartbeat + %d/s | %s |", note, idleBound, reached(missed))
	}
	if rows := s.scale.where(axis, "", "", "writes/s", -1); len(rows) > 0 {
		n = slices.Max(rows.sizes())
		v = rows.where("", "", "", "", n).values().median()
		all = s.scale.where(axis, "", "", "messages-in/s", n).values().median()
		for _, r := range s.scale.where(figures.About, "", axis, "leader-beats/s", -1) {
			leaders = r.Value
		}
	}
	if n == 0 {
		return fmt.Sprintf("| writes at rest, %s | – | ≤ leaders ÷ heartbeat + %d/s | – |", what, idleBound)
	}
	return fmt.Sprintf(
		"| writes at rest, %s %s | %s a second (%s messages to the server in all) | ≤ leaders ÷ heartbeat + %d/s = "+
			"%s/s | %s |",
		number(float64(n)), what, number(v), number(all), idleBound, number(leaders+idleBound),
		reached(judge(v, v <= leaders+idleBound)))
}

// flatAim is a line on a figure that is not to grow with N: at the smallest and the largest size
// that were measured, of which the second may be a tenth more, or what one message more in a window
// makes.
func (s *source) flatAim(part, job, figure, what string) string {
	rows := s.parts()[part].where(job, "", "", figure, -1)
	if part != "scale" {
		rows = rows.where("", ours, "", "", -1)
	}
	sizes := rows.sizes()
	if len(sizes) < 2 {
		return fmt.Sprintf("| %s | – | the same | – |", what)
	}
	least, most := sizes[0], sizes[len(sizes)-1]
	a, b := rows.where("", "", "", "", least).values().median(), rows.where("", "", "", "", most).values().median()
	return fmt.Sprintf("| %s, %s / %s | %s / %s a second | the same | %s |",
		what, number(float64(least)), number(float64(most)), number(a), number(b), reached(judge(b, b <= 1.1*a+0.1)))
}
