package view

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// FuzzView feeds a view what is decoded: whatever is in the bucket, the view does not fail.
func FuzzView(f *testing.F) {
	lease := record.Lease{V: 1, Session: 7, Nonce: "n", TTLms: 10_000, Beat: 3, State: record.Live}
	member := record.Member{
		V: 1, Session: 7,
		Roles: record.CandidaciesOf(map[string]record.Candidacy{
			"r": {Priority: 2, Takeover: true, Eligible: true},
		}),
	}
	for key, rec := range map[string]any{
		"c.lease.a": lease, "c.member.a": member, "c.role.r": ledBy("a.b", 7, 10_000), "w.lease.w": lease, "probe.a": nil,
	} {
		f.Add(key, record.Encode(rec), uint64(5), false)
		f.Add(key, []byte("{"), uint64(6), true)
	}
	f.Fuzz(func(t *testing.T, key string, value []byte, revision uint64, marker bool) {
		v, news := New[none, none](time.Minute), News[none, none]{}
		v.BeginWatch(Watch{Wide: true}, record.Peer{})
		for i := range uint64(2) {
			e := record.Decode(key, value, revision+i, marker, time.Minute)
			v.Deliver(1, &e, &news)
		}
		v.EndSnapshot(2, nil, &news)
		for _, r := range v.Roles() {
			v.Order(3, r)
			v.Successor(3, r)
		}
	})
}
