package record

import (
	"bytes"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

func recordSeeds(f *testing.F) {
	many := Member{V: 1, Session: 9, Assign: map[string]Workplace{"jobs": {
		Slots: 4, Kinds: []string{"k", "l"}, Labels: map[string]string{"zone": "north"},
	}}, Meta: map[string]string{"version": "1.2.3"}, Draining: true}
	for _, role := range []string{"scheduler", "metrics", "network"} {
		many.Roles = append(many.Roles, RoleCandidacy{role, Candidacy{Priority: 3, Takeover: true, Eligible: true}})
	}
	spread := Member{
		V: 1, Session: 9, Capacity: 2, MaxRoles: 7, Zone: "dc1", Apart: map[string][]string{"a": {"b"}},
		Roles: CandidaciesOf(map[string]Candidacy{"a": {Eligible: true, Spread: true, Group: "g"}}),
	}
	for _, record := range []any{
		goodLease, goodBeat, goodMember, goodRole, vacantRole, many, spread,
		Shards{V: 1, N: 64},
		Steer{V: 1, Drained: true, Hard: true, By: "ops", Reason: "power", UntilMs: 1 << 40},
		Steer{V: 1, Paused: true},
		Lease{V: 1, State: Killed, By: "b"},
		Lease{V: 1, State: Closed, Session: 4},
		Lease{V: 1, Session: 4, Nonce: "n", TTLms: 120_000, State: Idle, Beat: 1<<64 - 1},
		Role{
			V: 1, ID: "a", Session: 1<<64 - 1, Token: "t", Key: "UAME66OAROUZM7Y4BQT6SN77SM2T5AE4XNBCDUKGNCXDICLKRLJPXMTJ",
			TTLms: 60_000, Priority: -1,
		},
	} {
		f.Add(Encode(record))
	}
	for _, text := range []string{
		"", "{}", "[]", "null", `""`, `{"v":1}`, `{"v":2,"session":"x"}`, `{"V":1,"STATE":"live","Nonce":"n","ttl_MS":1}`,
		`{"v":1,"state":"live","nonce":"n","ttl_ms":1e4}`, `{"v":1,"session":18446744073709551616}`, `{"v":1,"ttl_ms":-1,"vacant":true}`,
		`{"v":1,"session":1,"roles":{"a":{},"a":{"priority":9223372036854775807}}}`, "{\"v\":1,\"session\":1,\"meta\":{\"\xff\":\"\xfe\"}}",
	} {
		f.Add([]byte(text))
	}
}

// FuzzRecords: what a decoder accepts it accepts again from the bytes that Encode makes of it,
// unchanged; and reading takes memory in proportion to what is read, whatever that is.
func FuzzRecords(f *testing.F) {
	recordSeeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		for what, read := range map[string]func([]byte) (any, error){
			"lease":  func(b []byte) (any, error) { l, err := DecodeLease(b, time.Minute); return l, err },
			"idle":   func(b []byte) (any, error) { i, err := DecodeIdleBeat(b, time.Minute); return i, err },
			"member": func(b []byte) (any, error) { m, err := DecodeMember(b); return m, err },
			"role":   func(b []byte) (any, error) { r, err := DecodeRole(b, time.Minute); return r, err },
			"steer":  func(b []byte) (any, error) { s, err := DecodeSteer(b); return s, err },
			"shards": func(b []byte) (any, error) { s, err := DecodeShards(b); return s, err },
		} {
			var record any
			var err error
			heap.Bounded(t, len(b), func() { record, err = read(b) })
			if err != nil {
				known(t, err)
				continue
			}
			first := Encode(record)
			again, err := read(first)
			if err != nil {
				t.Fatalf("%s: %s is refused: %v", what, first, err)
			}
			if second := Encode(again); !bytes.Equal(first, second) {
				t.Fatalf("%s: %s becomes %s", what, first, second)
			}
		}
	})
}
