package stage

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func interval(role, instance string, from, to int) term {
	return term{
		role: role, instance: instance, epoch: uint64(from),
		from: time.Duration(from), to: time.Duration(to), over: true,
	}
}

func TestSweep(t *testing.T) {
	for name, c := range map[string]struct {
		terms []term
		want  [][2]string // pairs of instances
	}{
		"nothing": {},
		"one after another": {
			[]term{interval("r", "a", 0, 5), interval("r", "b", 6, 9), interval("r", "a", 10, 12)}, nil,
		},
		"touching":    {[]term{interval("r", "a", 0, 5), interval("r", "b", 5, 9)}, nil},
		"other roles": {[]term{interval("r", "a", 0, 5), interval("s", "b", 2, 9)}, nil},
		"planted":     {[]term{interval("r", "b", 4, 9), interval("r", "a", 0, 5)}, [][2]string{{"a", "b"}}},
		"one within another, and behind a shorter one": {
			[]term{interval("r", "a", 0, 20), interval("r", "b", 2, 3), interval("r", "c", 10, 12)},
			[][2]string{{"a", "b"}, {"a", "c"}},
		},
		"of one instance":   {[]term{interval("r", "a", 0, 5), interval("r", "a", 4, 9)}, [][2]string{{"a", "a"}}},
		"begun at one time": {[]term{interval("r", "a", 3, 5), interval("r", "b", 3, 4)}, [][2]string{{"a", "b"}}},
		"only within each role": {
			[]term{interval("r", "a", 0, 9), interval("s", "a", 0, 9), interval("s", "b", 8, 9)},
			[][2]string{{"a", "b"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got [][2]string
			for _, o := range sweep(c.terms) {
				got = append(got, [2]string{o.a.instance, o.b.instance})
				if o.by <= 0 {
					t.Errorf("%s and %s overlap by %v", o.a.instance, o.b.instance, o.by)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("found %v, want %v", got, c.want)
			}
		})
	}
}

// TestSweepAgreesWithPairs compares the sweep with looking at every pair: it finds overlaps exactly
// if a pair overlaps.
func TestSweepAgreesWithPairs(t *testing.T) {
	overlapping := 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var terms []term
		for range 1 + r.IntN(6) {
			from := r.IntN(40)
			terms = append(terms, interval([]string{"r", "s"}[r.IntN(2)], "i", from, from+1+r.IntN(8)))
		}
		any := false
		for i, a := range terms {
			for _, b := range terms[i+1:] {
				any = any || a.role == b.role && a.from < b.to && b.from < a.to
			}
		}
		if any {
			overlapping++
		}
		if found := sweep(terms); any != (len(found) > 0) {
			t.Fatalf("seed %d: pairs overlap: %v, sweep found %v in %v", seed, any, found, terms)
		}
	}
	if overlapping < 200 || overlapping > 1800 {
		t.Fatalf("%d of 2000 samples overlap: too few of one sort", overlapping)
	}
}
