package electionotel_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var pictures = flag.String("pictures", "", "directory to write the picture of a hand-over to")

// bar is a span in the picture of a trace.
type bar struct {
	line
	of string
}

// picture draws the spans of a trace as bars over time, each in the colour of its process. It keeps
// the drawing as trace.svg if pictures are wanted.
func picture(t *testing.T, bars []bar) {
	t.Helper()
	const left, wide, high = 250.0, 520.0, 34
	began, ended := bars[0].Start, bars[0].End
	for _, b := range bars {
		began, ended = min(began, b.Start), max(ended, b.End)
	}
	var text strings.Builder
	put := func(format string, values ...any) { fmt.Fprintf(&text, format+"\n", values...) }
	put(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 %d" font-family="sans-serif" font-size="14">`, 50+high*len(bars))
	put(`<style>text{fill:#1c2733}.ground{fill:#fff}.quiet{fill:#5d6b7a}.a{fill:#0072b2}.b{fill:#d55e00}` +
		`@media(prefers-color-scheme:dark){text{fill:#e4eaf0}.ground{fill:#10161d}.quiet{fill:#9aa8b6}.a{fill:#56b4e9}.b{fill:#e69f00}}</style>`)
	put(`<rect class="ground" width="960" height="%d"/>`, 50+high*len(bars))
	put(`<text class="quiet" x="16" y="26">trace %s</text>`, bars[0].Trace)
	at := func(ns int64) float64 { return left + wide*float64(ns-began)/float64(max(ended-began, 1)) }
	for i, b := range bars {
		y := 44 + high*i
		indent := 16
		if b.ParentID == bars[0].ID {
			indent = 34
		}
		put(`<text x="%d" y="%d">%s</text><text class="quiet" x="%.0f" y="%d" text-anchor="end">process %s</text>`,
			indent, y+17, b.Span, left-12, y+17, b.of)
		put(`<rect class="%s" x="%.1f" y="%d" width="%.1f" height="22" rx="3"/>`, b.of, at(b.Start), y,
			max(at(b.End)-at(b.Start), 2))
		put(`<text x="%.1f" y="%d">%v</text>`, at(b.End)+8, y+17, time.Duration(b.End-b.Start).Round(10*time.Microsecond))
	}
	put(`</svg>`)
	if *pictures == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(*pictures, "trace.svg"), []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
