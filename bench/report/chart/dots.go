package chart

import (
	"fmt"
	"io"
	"slices"
)

// Samples are those of one who was measured.
type Samples struct {
	Name string
	All  []float64
}

// Dots draws every sample as a dot, a row for each, with a bar at its median. A logarithmic axis
// leaves out what is not above 0.
func Dots(w io.Writer, title, xLabel string, log bool, rows []Samples) error {
	d := &drawing{}
	var xs []float64
	for _, r := range rows {
		xs = append(xs, r.All...)
	}
	d.x, d.y = span(xs, log), axis{lo: 0, hi: float64(len(rows))}
	d.frame(title, xLabel, "", true, false)
	if !log && d.x.lo < 0 {
		d.put(`<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#444"/>`, d.px(0), top, d.px(0), height-below)
	}
	for i, r := range rows {
		colour := palette[i%len(palette)]
		middle := d.py(float64(len(rows)-i) - 0.5)
		for j, v := range r.All {
			if log && v <= 0 {
				continue
			}
			// Neighbours are set off from one another, always in the same way.
			d.put(`<circle cx="%.1f" cy="%.1f" r="3" fill="%s" fill-opacity="0.5"/>`, d.px(v), middle+float64(j*7%21-10), colour)
		}
		name := r.Name
		if len(r.All) > 0 {
			m := slices.Sorted(slices.Values(r.All))[len(r.All)/2]
			if !log || m > 0 {
				d.put(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="3"/>`, d.px(m), middle-16, d.px(m), middle+16, colour)
			}
			name = fmt.Sprintf("%s  %s", name, label(m))
		}
		d.text(width-right+12, middle+4, "start", colour, name)
	}
	return d.write(w)
}
