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

// of is what this library was measured with in the comparison or in growth, at one size.
func (s *source) of(part, job, figure string, n int) sample {
	return s.parts()[part].where(job, ours, "", figure, n).values()
}

// largest is the worst of that, and of how many.
func (s *source) largest(part, job, figure string, n int) string {
	v := s.of(part, job, figure, n)
	if len(v) < 2 {
		return number(v.percentile(1))
	}
	return fmt.Sprintf("%s (of %d)", number(v.percentile(1)), len(v))
}

// within compares the worst with what is aimed at.
func (s *source) within(part, job, figure string, n int, aim float64) verdict {
	v := s.of(part, job, figure, n).percentile(1)
	return judge(v, v <= aim)
}

// lead is what this library's median of a figure of tasks is of that of the best peer, on buffered stores.
func (s *source) lead(figure string) float64 {
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
	if rows := s.scale.where(axis, "", "", "writes/s", -1); len(rows) > 0 {
		n = slices.Max(rows.sizes())
		v = rows.where("", "", "", "", n).values().median()
		all = s.scale.where(axis, "", "", "messages-in/s", n).values().median()
		for _, r := range s.scale.where(figures.About, "", axis, "leader-beats/s", -1) {
			leaders = r.Value
		}
	}
	return fmt.Sprintf("| writes at rest, %s %s | %s a second (%s messages to the server in all) | leaders ÷ heartbeat + %d/s = %s/s | %s |",
		number(float64(n)), what, number(v), number(all), idleBound, number(leaders+idleBound), reached(judge(v, v <= leaders+idleBound)))
}
