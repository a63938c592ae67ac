package chart

import (
	"math"
	"strconv"
)

// axis maps values to 0..1.
type axis struct {
	lo, hi float64
	log    bool
}

// span is an axis that all the values lie on. A logarithmic one goes from power to power of ten and
// leaves out what is not above 0.
func span(all []float64, log bool) axis {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range all {
		if log && v <= 0 {
			continue
		}
		lo, hi = min(lo, v), max(hi, v)
	}
	switch {
	case lo > hi:
		lo, hi = 1, 10
	case log:
		lo, hi = math.Pow(10, math.Floor(math.Log10(lo))), math.Pow(10, math.Ceil(math.Log10(hi)))
		if lo == hi {
			hi *= 10
		}
	default:
		lo = min(lo, 0)
		if lo == hi {
			hi = lo + 1
		}
		edge := (hi - lo) * 0.05
		hi += edge
		if lo < 0 {
			lo -= edge
		}
	}
	return axis{lo, hi, log}
}

func (a axis) at(v float64) float64 {
	if !a.log {
		return (v - a.lo) / (a.hi - a.lo)
	}
	if v <= 0 {
		return 0
	}
	return (math.Log10(v) - math.Log10(a.lo)) / (math.Log10(a.hi) - math.Log10(a.lo))
}

// ticks are powers of ten, or about five round steps.
func (a axis) ticks() (all []float64) {
	if a.log {
		for v := a.lo; v <= a.hi*1.001; v *= 10 {
			all = append(all, v)
		}
		return all
	}
	step := math.Pow(10, math.Floor(math.Log10((a.hi-a.lo)/2)))
	for (a.hi-a.lo)/step > 8 {
		step *= 2
	}
	for i := math.Ceil(a.lo / step); i*step <= a.hi; i++ {
		all = append(all, i*step)
	}
	return all
}

func label(v float64) string {
	for _, unit := range []struct {
		of   float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if math.Abs(v) >= unit.of {
			return strconv.FormatFloat(v/unit.of, 'g', 4, 64) + unit.name
		}
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
