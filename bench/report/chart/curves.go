package chart

import (
	"fmt"
	"io"
)

// Curve is one line: Y over X, in the order of X.
type Curve struct {
	Name string
	X, Y []float64
}

// Curves draws lines with both axes logarithmic, so that a power of N is a straight line and its
// exponent the slope.
func Curves(w io.Writer, title, xLabel, yLabel string, curves []Curve) error {
	d := &drawing{}
	var xs, ys []float64
	for _, c := range curves {
		xs, ys = append(xs, c.X...), append(ys, c.Y...)
	}
	d.x, d.y = span(xs, true), span(ys, true)
	d.frame(title, xLabel, yLabel, true, true)
	for i, c := range curves {
		colour := palette[i%len(palette)]
		path := ""
		for j := range c.X {
			if c.Y[j] <= 0 {
				continue
			}
			x, y := d.px(c.X[j]), d.py(c.Y[j])
			path += fmt.Sprintf("%.1f,%.1f ", x, y)
			d.put(`<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`, x, y, colour)
		}
		if path == "" {
			continue
		}
		d.put(`<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`, path, colour)
		y := float64(top + 14 + 20*i)
		d.put(`<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="%s" stroke-width="3"/>`, width-right+12, y-4, width-right+32, y-4, colour)
		d.text(width-right+38, y, "start", "#111", c.Name)
	}
	return d.write(w)
}
