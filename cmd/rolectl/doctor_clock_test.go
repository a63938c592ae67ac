package main

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// TestDoctorClockStep: a record that the server stored after another one, and says is older, is a clock that went back. No
// server can be brought to do that here, so the record is put into what the doctor has read.
func TestDoctorClockStep(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.pair("scheduler")
	a := app{bucket: "roles", nc: p.connect()}
	s, err := a.look(t.Context(), true, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x := examination{a: &a, s: s, seen: &changes{beats: map[protocol.Peer]pulse{}}}
	x.time(t.Context(), 0)
	s.ledger.mu.Lock()
	last := s.last
	s.ledger.mu.Unlock()
	s.take(natskv.Entry{Key: "member.x", Value: []byte("{}"), Revision: last.Revision + 1_000_000, Time: last.Time.Add(-time.Minute)})
	x.time(t.Context(), 0)
	if len(x.findings) != 2 || x.findings[0].Level != healthy || x.findings[1].Level != warning || x.findings[1].Check != "clock" || x.findings[1].Fix == "" {
		t.Errorf("before and after: %+v", x.findings)
	}
}

// TestOlder: versions are compared by their numbers; what is no version is not old.
func TestOlder(t *testing.T) {
	t.Parallel()
	for v, want := range map[string]bool{
		"2.11.9": true, "2.9.25": true, "1.99.99": true, "2.12.0-RC.1": false, "2.12.0": false, "2.12.1": false, "2.100.0": false, "3.0.0": false, "2.12": false, "dev": false, "": false,
	} {
		if got := older(v, 2, 12, 0); got != want {
			t.Errorf("%q before 2.12.0: %v", v, got)
		}
	}
}
