package chart_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/bench/report/chart"
)

// wellFormed counts the elements of each name.
func wellFormed(t *testing.T, svg string) map[string]int {
	t.Helper()
	count := map[string]int{}
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return count
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, svg)
		}
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
		}
	}
}

func TestCurves(t *testing.T) {
	var b strings.Builder
	if err := chart.Curves(&b, "a < b & c", "N", "y", []chart.Curve{
		{Name: "one", X: []float64{1, 10, 100}, Y: []float64{5, 0, 7}}, // nothing is 0 on a logarithmic axis
		{Name: "none"},
	}); err != nil {
		t.Fatal(err)
	}
	if n := wellFormed(t, b.String()); n["circle"] != 2 || n["polyline"] != 1 {
		t.Errorf("%v", n)
	}
}

func TestDots(t *testing.T) {
	rows := []chart.Samples{{Name: "a", All: []float64{-3, 0, 4}}, {Name: "b", All: []float64{5}}, {Name: "c"}}
	for log, want := range map[bool]int{false: 4, true: 2} {
		var b strings.Builder
		if err := chart.Dots(&b, "title", "ms", log, rows); err != nil {
			t.Fatal(err)
		}
		if n := wellFormed(t, b.String()); n["circle"] != want || strings.Contains(b.String(), "NaN") {
			t.Errorf("log %v: %v", log, n)
		}
	}
}
