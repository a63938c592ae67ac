package view

import (
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestForgottenPeers: a watch over everything remembers who is gone only while somebody asks for
// it.
func TestForgottenPeers(t *testing.T) {
	v := New[none, none](time.Minute)
	var n News[none, none]
	v.BeginWatch(Watch{Wide: true, Remember: true}, record.Peer{})
	v.EndSnapshot(1, nil, &n)
	v.SeenAll()
	rev := uint64(1)
	for i := range 10000 {
		p := record.Peer{Class: record.Worker, Instance: fmt.Sprint("w", i)}
		rev++
		v.Deliver(record.Instant(rev), &record.Entry{
			Kind: record.KindLease, Peer: p, Revision: rev, Form: record.FormRecord,
			Lease: record.Lease{V: 1, Nonce: "x", TTLms: 1000, State: record.Live},
		}, &n)
		rev++
		v.Deliver(record.Instant(rev), &record.Entry{Kind: record.KindLease, Peer: p, Revision: rev, Form: record.FormMarker},
			&n)
		n.Reset()
	}
	if len(v.peers)+len(v.forgotten) > 0 {
		t.Errorf("%d peers, %d forgotten ones", len(v.peers), len(v.forgotten))
	}
}
