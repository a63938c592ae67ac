package show

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/internal/wording"
)

// Distribution is the result of a repeated measurement.
type Distribution struct {
	Name  string  `json:"name"`
	Count int     `json:"count"`
	Min   float64 `json:"min_seconds"`
	P50   float64 `json:"p50_seconds"`
	P90   float64 `json:"p90_seconds"`
	P99   float64 `json:"p99_seconds"`
	Max   float64 `json:"max_seconds"`

	sorted []time.Duration
}

// Distribute sorts samples; it takes them over.
func Distribute(name string, samples []time.Duration) Distribution {
	slices.Sort(samples)
	d := Distribution{Name: name, Count: len(samples), sorted: samples}
	d.Min, d.P50, d.P90, d.P99, d.Max = Seconds(d.at(0)), Seconds(d.at(0.5)), Seconds(d.at(0.9)), Seconds(d.at(0.99)),
		Seconds(d.at(1))
	return d
}

// at returns a percentile: the smallest sample that at least this part of all samples does not
// exceed (nearest rank).
func (d Distribution) at(part float64) time.Duration {
	if len(d.sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(part * float64(len(d.sorted))))
	return d.sorted[max(rank, 1)-1]
}

// Row is the distribution as a line of a table.
func (d Distribution) Row() Row {
	cells := []string{d.Name, fmt.Sprint(d.Count)}
	for _, part := range []float64{0, 0.5, 0.9, 0.99, 1} {
		cells = append(cells, wording.Age(d.at(part)))
	}
	return Row{Name: d.Name, Cells: cells}
}

const (
	maxBins  = 12
	barWidth = 50
)

// Histogram draws the spread of the samples, with bins of equal ratio because latencies have long
// tails.
func (p Printer) Histogram(d Distribution) error {
	if d.Count == 0 {
		return nil
	}
	low, high := max(d.at(0), 1), max(d.at(1), 1)
	bins := min(maxBins, d.Count)
	ratio := math.Pow(float64(high)/float64(low), 1/float64(bins))
	if ratio < 1.001 {
		bins, ratio = 1, 1
	}
	counts := make([]int, bins)
	for _, s := range d.sorted {
		bin := 0
		if ratio > 1 {
			bin = int(math.Log(float64(max(s, 1))/float64(low)) / math.Log(ratio))
		}
		counts[min(max(bin, 0), bins-1)]++
	}
	most := slices.Max(counts)
	text := d.Name + "\n"
	for i, n := range counts {
		from := time.Duration(float64(low) * math.Pow(ratio, float64(i)))
		bar := strings.Repeat("#", (n*barWidth+most-1)/most)
		text += strings.TrimRight(fmt.Sprintf("%10s | %-*s %d", wording.Age(from), barWidth, bar, n), " ") + "\n"
	}
	_, err := p.W.Write([]byte(text + "\n"))
	return err
}
