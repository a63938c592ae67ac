// Package chart draws the two kinds of plot that the figures need, as SVG: curves over a quantity
// that grows, and samples as dots, a row for each who was measured. Axes are logarithmic where that
// is asked for: costs are compared by their ratios.
package chart

import (
	"fmt"
	"html"
	"io"
	"strings"
)

// The size of a drawing, and of the frame in it.
const (
	width, height           = 760, 400
	left, right, top, below = 80, 170, 40, 56
)

// palette is that of Okabe and Ito, which the colour-blind can tell apart; the first is for the one
// that is compared with the others.
var palette = []string{"#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"}

// drawing collects the elements of one SVG.
type drawing struct {
	strings.Builder
	x, y axis
}

func (d *drawing) put(format string, args ...any) { fmt.Fprintf(d, format+"\n", args...) }

func (d *drawing) text(x, y float64, anchor, colour, s string) {
	d.put(`<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s">%s</text>`, x, y, anchor, colour, html.EscapeString(s))
}

// px and py are where a value lies in the drawing.
func (d *drawing) px(v float64) float64 { return left + d.x.at(v)*(width-left-right) }
func (d *drawing) py(v float64) float64 { return height - below - d.y.at(v)*(height-top-below) }

// frame draws title, labels, and ticks with lines through the frame.
func (d *drawing) frame(title, xLabel, yLabel string, xTicks, yTicks bool) {
	d.text(left, 22, "start", "#111", title)
	if xTicks {
		for _, v := range d.x.ticks() {
			d.put(`<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#ddd"/>`, d.px(v), top, d.px(v), height-below)
			d.text(d.px(v), height-below+18, "middle", "#444", label(v))
		}
	}
	if yTicks {
		for _, v := range d.y.ticks() {
			d.put(`<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#ddd"/>`, left, d.py(v), width-right, d.py(v))
			d.text(left-8, d.py(v)+4, "end", "#444", label(v))
		}
	}
	d.put(`<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#888"/>`, left, top, width-left-right, height-top-below)
	d.text(left+(width-left-right)/2, height-12, "middle", "#111", xLabel)
	if yLabel != "" {
		y := float64(top + (height-top-below)/2)
		d.put(`<text x="16" y="%.1f" text-anchor="middle" transform="rotate(-90 16 %.1f)" fill="#111">%s</text>`, y, y, html.EscapeString(yLabel))
	}
}

func (d *drawing) write(w io.Writer) error {
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">
<rect width="%d" height="%d" fill="#fff"/>
%s</svg>
`, width, height, width, height, d.String())
	return err
}
