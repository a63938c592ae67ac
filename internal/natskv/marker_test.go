package natskv

import (
	"testing"
	"time"
)

// TestReadingSaysWhatAMarkerIs: a record that is read by its key says so too, and until when it is
// kept.
func TestReadingSaysWhatAMarkerIs(t *testing.T) {
	nc, s, w := newStreamWriter(t)
	first := mustWin(t, w, Write{Key: "a", Value: []byte("v"), TTL: time.Hour})
	e, err := s.Get(t.Context(), nc, "a")
	if err != nil || e.Marker || !e.KeptUntil().Equal(e.Time.Add(time.Hour)) {
		t.Errorf("%+v until %v, %v", e, e.KeptUntil(), err)
	}
	gone := mustWin(t, w, Write{Key: "a", Delete: true, TTL: time.Minute, Expect: first})
	if e, err = s.Get(t.Context(), nc, "a"); err != nil || !e.Marker || e.Revision != gone {
		t.Errorf("deleted: %+v, %v", e, err)
	}
	if e, err = s.GetRevision(t.Context(), nc, gone); err != nil || !e.Marker {
		t.Errorf("its revision: %+v, %v", e, err)
	}
	mustWin(t, w, Write{Key: "b", Value: []byte("v")})
	if e, err = s.Get(t.Context(), nc, "b"); err != nil || e.Marker || !e.KeptUntil().IsZero() {
		t.Errorf("kept for ever: %+v until %v, %v", e, e.KeptUntil(), err)
	}
}
