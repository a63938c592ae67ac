package protocol

import (
	"fmt"
	"testing"
	"time"
)

// TestForgottenPeers: a watch over everything remembers who is gone only while somebody asks for it.
func TestForgottenPeers(t *testing.T) {
	v := newView[none, none](time.Minute)
	var n theNews[none, none]
	v.BeginWatch(Watch{Wide: true}, Peer{})
	v.EndSnapshot(1, nil, &n)
	v.SeenAll()
	rev := uint64(1)
	for i := range 10000 {
		p := Peer{Class: Worker, Instance: fmt.Sprint("w", i)}
		rev++
		v.Deliver(Instant(rev), &Entry{Kind: KindLease, Peer: p, Revision: rev, Form: FormRecord, Lease: Lease{V: 1, Nonce: "x", TTLms: 1000, State: Live}}, &n)
		rev++
		v.Deliver(Instant(rev), &Entry{Kind: KindLease, Peer: p, Revision: rev, Form: FormMarker}, &n)
		n.Reset()
	}
	if len(v.peers)+len(v.forgotten) > 0 {
		t.Errorf("%d peers, %d forgotten ones", len(v.peers), len(v.forgotten))
	}
}
