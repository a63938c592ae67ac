package natskv

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestNextFindsTheFirstRecordThatMatches: from a revision on, with wildcards, also a marker.
func TestNextFindsTheFirstRecordThatMatches(t *testing.T) {
	nc, s, w := newStreamWriter(t)
	none := func(filter string, from uint64) {
		t.Helper()
		if e, err := s.Next(t.Context(), nc, filter, from); !errors.Is(err, ErrRecordNotFound) {
			t.Errorf("%s from %d: %+v, %v", filter, from, e, err)
		}
	}
	none("b.>", 1)
	first := mustWin(t, w, Write{Key: "b.x.1.0", Value: []byte("first"), Header: []Field{{"H", "v"}}})
	mustWin(t, w, Write{Key: "q.x.1.1"})
	second := mustWin(t, w, Write{Key: "b.x.1.5", Value: []byte("second")})
	other := mustWin(t, w, Write{Key: "b.x.2.0", Value: []byte("other")})
	marker := mustWin(t, w, Write{Key: "b.x.1.7", Delete: true, TTL: time.Hour})
	for _, tt := range []struct {
		filter string
		from   uint64
		want   uint64
	}{
		{"b.x.1.*", 0, first},
		{"b.x.1.*", first, first},
		{"b.x.1.*", first + 1, second},
		{"b.x.1.*", second + 1, marker},
		{"b.x.*.*", second + 1, other},
		{"b.*.2.>", 1, other},
		{"b.x.2.0", 1, other},
		{">", first + 1, first + 1},
	} {
		e, err := s.Next(t.Context(), nc, tt.filter, tt.from)
		if err != nil || e.Revision != tt.want || e.Time.IsZero() || e.Marker != (tt.want == marker) {
			t.Errorf("%s from %d: %+v, %v; want revision %d", tt.filter, tt.from, e, err, tt.want)
		}
	}
	if e, err := s.Next(t.Context(), nc, "b.x.1.*", 1); err != nil || e.Key != "b.x.1.0" || string(e.Value) != "first" ||
		e.Header.Get("H") != "v" {
		t.Errorf("%+v, %v", e, err)
	}
	none("b.x.1.*", marker+1)
	none("b.x.1", 1)
	none("b.x.1.*", 1<<40)
}

// TestNextAfterNextListsAll: each record once, where it stands now.
func TestNextAfterNextListsAll(t *testing.T) {
	nc, s, w := newStreamWriter(t)
	const records = 30
	revisions := make([]uint64, records)
	for i := range revisions {
		revisions[i] = mustWin(t, w, Write{Key: fmt.Sprint("b.", i)})
		mustWin(t, w, Write{Key: fmt.Sprint("e.", i)})
	}
	for i := 0; i < records; i += 3 {
		revisions[i] = mustWin(t, w, Write{Key: fmt.Sprint("b.", i), Expect: revisions[i]})
	}
	var seen []uint64
	for from := uint64(1); ; {
		e, err := s.Next(t.Context(), nc, "b.*", from)
		if errors.Is(err, ErrRecordNotFound) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, e.Revision)
		from = e.Revision + 1
	}
	slices.Sort(revisions)
	if !slices.Equal(seen, revisions) {
		t.Errorf("%v, want %v", seen, revisions)
	}
}
