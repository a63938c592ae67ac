package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/rolemanager/rolemanager/bench/figures"
)

// sample is values of one figure.
type sample []float64

// percentile is the smallest value that the share p of the sample does not exceed.
func (s sample) percentile(p float64) float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[min(int(p*float64(len(s))), len(s)-1)]
}

// median is the value in the middle, or between the two that are.
func (s sample) median() float64 {
	if len(s) == 0 || len(s)%2 == 1 {
		return s.percentile(0.5)
	}
	sorted := slices.Sorted(slices.Values(s))
	return (sorted[len(s)/2-1] + sorted[len(s)/2]) / 2
}

// largest is the worst that was measured.
func (s sample) largest() float64 { return s.percentile(1) }

// enough is how many samples have a 99th percentile that is not simply the largest of them.
const enough = 100

// worst is the 99th percentile, of a sample that has one.
func (s sample) worst() float64 {
	if len(s) < enough {
		return math.NaN()
	}
	return s.percentile(0.99)
}

// counts is of how many samples the cells of a table are.
type counts struct{ least, most int }

func (c *counts) add(n int) {
	if n > 0 && (c.least == 0 || n < c.least) {
		c.least = n
	}
	c.most = max(c.most, n)
}

func (c counts) String() string {
	if c.least == c.most {
		return fmt.Sprintf("Samples of each: %d.", c.most)
	}
	return fmt.Sprintf("Samples of each: %d to %d.", c.least, c.most)
}

// data is rows of one run.
type data []figures.Row

// where are the rows that match; an empty string and a negative n match everything.
func (d data) where(job, peer, mode, figure string, n int) (found data) {
	for _, r := range d {
		if (job == "" || r.Job == job) && (peer == "" || r.Peer == peer) && (mode == "" || r.Mode == mode) &&
			(figure == "" || r.Figure == figure) && (n < 0 || r.N == n) {
			found = append(found, r)
		}
	}
	return found
}

func (d data) values() (s sample) {
	for _, r := range d {
		s = append(s, r.Value)
	}
	return s
}

// peers are who the rows are of, in the order in which they were measured.
func (d data) peers() (all []string) {
	for _, r := range d {
		if !slices.Contains(all, r.Peer) {
			all = append(all, r.Peer)
		}
	}
	return all
}

func (d data) sizes() (all []int) {
	for _, r := range d {
		if !slices.Contains(all, r.N) {
			all = append(all, r.N)
		}
	}
	slices.Sort(all)
	return all
}

func (d data) modes() (all []string) {
	for _, r := range d {
		if !slices.Contains(all, r.Mode) {
			all = append(all, r.Mode)
		}
	}
	return all
}

// number prints three digits, and thousands with commas.
func number(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return "–"
	case a >= 1000:
		s := strconv.FormatInt(int64(math.Round(v)), 10)
		for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
			s = s[:i] + "," + s[i:]
		}
		return s
	case a < 1e-12: // what is left of a sum that comes to nothing
		return "0"
	case v == math.Trunc(v):
		return strconv.FormatInt(int64(v), 10)
	case a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
