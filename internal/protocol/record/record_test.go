package record

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

var (
	goodLease  = Lease{V: 1, Session: 7, Nonce: "n", TTLms: 10_000, Beat: 3, State: Live}
	goodBeat   = IdleBeat{V: 1, Session: 7, Nonce: "n", Lease: 9, Beat: 3, TTLms: 10_000}
	goodMember = Member{V: 1, Session: 7, Roles: CandidaciesOf(map[string]Candidacy{
		"r": {Priority: 2, Takeover: true, Eligible: true},
	})}
	goodRole   = Role{V: 1, ID: "a.b", Session: 7, Token: "t", TTLms: 10_000}
	vacantRole = Role{V: 1, Vacant: true, By: "a", Next: "b", Forced: true, TTLms: 10_000}
)

func TestRecordsSurviveTheBucket(t *testing.T) {
	for _, rec := range []any{goodLease, goodBeat, goodMember, goodRole, vacantRole} {
		var got any
		var err error
		switch rec.(type) {
		case Lease:
			got, err = DecodeLease(Encode(rec), time.Minute)
		case IdleBeat:
			got, err = DecodeIdleBeat(Encode(rec), time.Minute)
		case Member:
			got, err = DecodeMember(Encode(rec))
		case Role:
			got, err = DecodeRole(Encode(rec), time.Minute)
		}
		if err != nil || !reflect.DeepEqual(got, rec) {
			t.Errorf("%s came back as %+v, %v", Encode(rec), got, err)
		}
	}
}

func TestDecodeForms(t *testing.T) {
	for _, c := range []struct {
		key, value string
		marker     bool
		want       Form
	}{
		{"c.lease.a", string(Encode(goodLease)), false, FormRecord},
		{"c.lease.a", "", true, FormMarker},
		{"c.lease.a", `{"v":1,"state":"closed","session":7}`, true, FormRecord}, // a session's end, said by the writer
		{"c.lease.a", `{"v":1,"state":"killed","by":"b"}`, true, FormRecord},
		{"c.lease.a", string(Encode(goodLease)), true, FormMarker}, // proves no end
		{"c.lease.a", `{"v":1,"state":"revoked","by":"b"}`, true, FormMarker},
		{"c.lease.a", `{"v":2,"state":"closed"}`, true, FormMarker},
		{"c.member.a", `{"v":1,"state":"closed","session":7}`, true, FormMarker},
		{"c.role.r", `{"v":1,"state":"closed","session":7}`, true, FormMarker},
		{"c.lease.a", "", false, FormGarbage},
		{"c.lease.a", `{"v":2,"session":"no number any more"}`, false, FormNewer},
		{"c.lease.a", `{"v":0}`, false, FormGarbage},
		{"c.lease.a", `{"v":1,"state":"live","ttl_ms":1000}`, false, FormGarbage},                  // no nonce
		{"c.lease.a", `{"v":1,"state":"live","nonce":"n","ttl_ms":0}`, false, FormGarbage},         // waited for not at all
		{"c.lease.a", `{"v":1,"state":"live","nonce":"n","ttl_ms":999999999}`, false, FormGarbage}, // for ever
		{"c.lease.a", `{"v":1,"state":"asleep","nonce":"n","ttl_ms":1000}`, false, FormGarbage},    // an unknown state
		{"c.lease.a", `{"v":1,"state":"killed","by":"b"}`, false, FormRecord},                      // needs no ttl
		{"i.c.a", string(Encode(goodBeat)), false, FormRecord},
		{"i.w.a", `{"v":1,"nonce":"n","lease":9,"beat":1,"ttl_ms":1000}`, false, FormRecord},
		{"i.c.a", `{"v":1,"nonce":"n","beat":1,"ttl_ms":1000}`, false, FormGarbage},       // of no lease
		{"i.c.a", `{"v":1,"lease":9,"beat":1,"ttl_ms":1000}`, false, FormGarbage},         // no nonce
		{"i.c.a", `{"v":1,"nonce":"n","lease":9,"ttl_ms":999999999}`, false, FormGarbage}, // waited for without end
		{"i.c.a", `{"v":2}`, false, FormNewer},
		{"c.member.a", `{"v":1}`, false, FormGarbage}, // of no session
		{"c.member.a", `{"v":1,"session":3,"zone":"dc1"}`, false, FormRecord},
		{"c.member.a", `{"v":1,"session":3,"zone":"d c"}`, false, FormGarbage},           // a name that is none
		{"c.role.r", `{"v":1,"ttl_ms":1000,"session":3}`, false, FormGarbage},            // held by nobody
		{"c.role.r", `{"v":1,"ttl_ms":1000,"id":"a b","session":3}`, false, FormGarbage}, // by a name that is none
		{"c.role.r", `{"v":1,"vacant":true}`, false, FormGarbage},                        // nobody knows how long to wait
		{"c.role.r", `{"v":1,"vacant":true,"ttl_ms":1000}`, false, FormRecord},
	} {
		e := Decode(c.key, []byte(c.value), 5, c.marker, time.Minute)
		if e.Form != c.want || e.Revision != 5 || (e.Form == FormGarbage) != (e.Problem != "") {
			t.Errorf("%s %s: %+v, want form %d", c.key, c.value, e, c.want)
		}
	}
}

func FuzzDecodeLease(f *testing.F) {
	for _, s := range []string{"", "{", "null", `{"v":2}`, string(Encode(goodLease)), `{"v":1,"state":"killed"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := DecodeLease(b, time.Minute)
		if err != nil {
			known(t, err)
			return
		}
		if l.V != Version || l.Alive() && (l.Nonce == "" || l.TTL() <= 0 || l.TTL() > time.Minute) {
			t.Fatalf("accepted %+v", l)
		}
	})
}

func FuzzDecodeMember(f *testing.F) {
	for _, s := range []string{"", "[]", `{"v":1,"session":1,"roles":null}`, string(Encode(goodMember))} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := DecodeMember(b)
		if err != nil {
			known(t, err)
			return
		}
		if again, err := DecodeMember(Encode(m)); err != nil || again.Session != m.Session ||
			len(again.Roles) != len(m.Roles) {
			t.Fatalf("%+v came back as %+v, %v", m, again, err)
		}
	})
}

func FuzzDecodeRole(f *testing.F) {
	for _, s := range []string{"", "0", string(Encode(goodRole)), string(Encode(vacantRole))} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := DecodeRole(b, time.Minute)
		if err != nil {
			known(t, err)
			return
		}
		if r.TTL() <= 0 || r.TTL() > time.Minute || !r.Vacant && (r.ID == "" || r.Session == 0) {
			t.Fatalf("accepted %+v", r)
		}
	})
}

func known(t *testing.T, err error) {
	if !errors.Is(err, ErrNewer) && !errors.Is(err, errGarbage) {
		t.Fatalf("an error of no kind: %v", err)
	}
}

// FuzzDecode: whatever is at a key, it is decoded to an entry with that revision, in memory in
// proportion to its size.
func FuzzDecode(f *testing.F) {
	for key, rec := range map[string]any{
		"c.lease.a": goodLease, "c.member.a": goodMember, "c.role.r": goodRole, "w.lease.w": goodLease, "i.c.a": goodBeat,
		"probe.a": nil,
	} {
		f.Add(key, Encode(rec), uint64(5), false)
		f.Add(key, []byte("{"), uint64(6), true)
	}
	f.Fuzz(func(t *testing.T, key string, value []byte, revision uint64, marker bool) {
		var e Entry
		heap.Bounded(t, len(key)+len(value), func() { e = Decode(key, value, revision, marker, time.Minute) })
		if e.Revision != revision || (e.Form == FormGarbage) != (e.Problem != "") || marker != (e.Form == FormMarker) {
			t.Errorf("%s: %+v", key, e)
		}
	})
}
