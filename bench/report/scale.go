package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/rolemanager/rolemanager/bench/report/chart"
)

// bend is how much two neighbouring slopes may differ until that is called a bend.
const bend = 0.3

// growth is a table of what one axis costs: the exponent of a power of N that fits all sizes best,
// that of the last step, and where the slope changes.
func (s *source) growth(axis string) string {
	rows := s.scale.where(axis, "", "", "", -1)
	if len(rows) == 0 {
		return unmeasured
	}
	var names []string
	for _, r := range rows {
		if r.Figure != "failed" && !slices.Contains(names, r.Figure) {
			names = append(names, r.Figure)
		}
	}
	sizes := rows.sizes()
	head := []string{axis}
	for _, n := range sizes {
		head = append(head, number(float64(n)))
	}
	t := newTable(append(head, "exponent", "of the last step", "bends at")...)
	var all counts
	for _, name := range names {
		c := curveOf(name, rows.where("", "", "", name, -1))
		cells := []string{name}
		for _, n := range sizes {
			i := slices.Index(c.X, float64(n))
			if i < 0 {
				cells = append(cells, "–")
				continue
			}
			cells = append(cells, number(c.Y[i]))
			all.add(len(rows.where("", "", "", name, n)))
		}
		whole, last, at := exponents(c.X, c.Y)
		t.row(append(cells, number(whole), number(last), at)...)
	}
	fmt.Fprintf(t, "\n%s\n", all)
	if f := s.failed(axis); f != "" {
		fmt.Fprintf(t, "\n%s.\n", f)
	}
	return t.String()
}

// failed says which size of an axis could not be measured, and why.
func (s *source) failed(axis string) string {
	for _, r := range s.scale.where(axis, "", "", "failed", -1) {
		return fmt.Sprintf("%s %s: %s", number(float64(r.N)), axis, r.Note)
	}
	return ""
}

// scaled is one figure of an axis at one size.
func (s *source) scaled(axis, figure string, n int) string {
	return number(s.scale.where(axis, "", "", figure, n).values().median())
}

// delivery is the processor time, in seconds, that members and server spend at rest for each
// message that goes out.
func (s *source) delivery(axis string, n int) float64 {
	of := func(figure string) float64 { return s.scale.where(axis, "", "", figure, n).values().median() }
	return (of("cpu-members-%") + of("cpu-server-%")) / 100 / of("messages-out/s")
}

// delivered is what so many deliveries would take of a processor, by what one of n members takes.
func (s *source) delivered(axis string, n int, deliveries float64) string {
	return number(deliveries * s.delivery(axis, n))
}

// exponents fits log y = a + b log x by least squares and returns b, the slope between the last two
// points, and where neighbouring slopes differ by more than bend.
func exponents(xs, ys []float64) (whole, last float64, bends string) {
	var lx, ly []float64
	for i := range xs {
		if xs[i] > 0 && ys[i] > 0 {
			lx, ly = append(lx, math.Log(xs[i])), append(ly, math.Log(ys[i]))
		}
	}
	n := len(lx)
	if n < 2 {
		return math.NaN(), math.NaN(), "–"
	}
	var mx, my float64
	for i := range lx {
		mx, my = mx+lx[i]/float64(n), my+ly[i]/float64(n)
	}
	var above, below float64
	for i := range lx {
		above, below = above+(lx[i]-mx)*(ly[i]-my), below+(lx[i]-mx)*(lx[i]-mx)
	}
	slope := func(i int) float64 { return (ly[i] - ly[i-1]) / (lx[i] - lx[i-1]) }
	bends = "–"
	for i := 2; i < n; i++ {
		if math.Abs(slope(i)-slope(i-1)) > bend {
			at := number(math.Round(math.Exp(lx[i-1])))
			if bends == "–" {
				bends = at
			} else {
				bends += ", " + at
			}
		}
	}
	return above / below, slope(n - 1), bends
}

// curve draws figures of one axis over N.
func (s *source) curve(name, title, axis string, names ...string) (string, error) {
	rows := s.scale.where(axis, "", "", "", -1)
	var all []chart.Curve
	for _, figure := range names {
		if r := rows.where("", "", "", figure, -1); len(r) > 0 {
			all = append(all, curveOf(figure, r))
		}
	}
	if len(all) == 0 {
		return "", nil
	}
	return s.plot(name, title, func(w io.Writer) error { return chart.Curves(w, title, axis, "", all) })
}

// cluster computes, from the writes and deliveries at rest on one server, what each of three would
// do.
func (s *source) cluster(axis string) string {
	rows := s.scale.where(axis, "", "", "", -1)
	if len(rows) == 0 {
		return unmeasured
	}
	t := newTable(axis, "writes/s, measured", "deliveries/s, measured", "replication messages/s, computed",
		"deliveries/s of each of three servers, computed")
	for _, n := range rows.sizes() {
		w, out := rows.where("", "", "", "writes/s", n).values().median(),
			rows.where("", "", "", "messages-out/s", n).values().median()
		if math.IsNaN(w) {
			continue
		}
		// A write goes to two followers, and each says that it has it.
		t.row(number(float64(n)), number(w), number(out), number(4*w), fmt.Sprint(number(out/3)))
	}
	return t.String()
}
