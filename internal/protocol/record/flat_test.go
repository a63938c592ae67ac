package record

import (
	"encoding/json"
	"reflect"
	"testing"
)

// flats are zero records of every flat type.
func flats() []flat { return []flat{&Lease{}, &IdleBeat{}, &Role{}, &Member{}} }

// TestFlatRecordsArePlain: what Encode makes of a record with every field set is read without
// encoding/json, and no field is forgotten.
func TestFlatRecordsArePlain(t *testing.T) {
	all := Candidacy{
		Priority: -1 << 31, Takeover: true, Eligible: true, Spread: true, Group: "g", Tier: 1<<31 - 1, Over: true, Waits: "l",
		Out: "o",
	}
	for _, want := range []flat{
		&Lease{
			V: 1, Session: 1<<64 - 1, Nonce: "n-1", TTLms: 1<<63 - 1, Beat: 3, State: Killed, Workers: 1<<32 - 1, By: "b",
			AtRest: true,
		},
		&IdleBeat{V: 1, Session: 7, Nonce: "n", Lease: 9, Beat: 3, TTLms: 10_000},
		&Role{
			V: 1, TTLms: 1, ID: "a.b", Session: 7, Token: "t", Key: "k", Priority: 1<<31 - 1, Vacant: true, Forced: true,
			By: "a", Reason: "stepped down", Next: "b", FailBacks: 255, FailedBack: true,
		},
		&Member{
			V: 1, Session: 7, Roles: Candidacies{{Role: "", Candidacy: all}, {Role: "a"}, {Role: "b", Candidacy: all}},
			Meta: map[string]string{"é": `}"\`}, Assign: map[string]Workplace{"jobs": {Slots: 4, Kinds: []string{"k}"}}},
			Told: map[string][]byte{"jobs": {0, 1}}, Draining: true, Capacity: 2, MaxRoles: 9,
			Apart: map[string][]string{"a": {"b"}}, Zone: "dc1",
		},
	} {
		for i := range reflect.ValueOf(want).Elem().NumField() {
			if reflect.ValueOf(want).Elem().Field(i).IsZero() {
				t.Errorf("field %d of %T is not tried", i, want)
			}
		}
		got := reflect.New(reflect.TypeOf(want).Elem()).Interface().(flat)
		if b := Encode(want); !readFlat(b, got) || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is read as %+v", b, got)
		}
	}
}

// TestFlatLeavesOtherForms: a form that Encode does not make is left to encoding/json, and nothing
// of it is kept.
func TestFlatLeavesOtherForms(t *testing.T) {
	for _, text := range []string{
		"", "{", "null", "[]", `{"v":1`, `{"v":1,}`, `{"v":1}}`, `{"v":1} `, `{"v": 1}`, `{"V":1}`, `{"v":01}`, `{"v":-1}`, `{"v":1.0}`,
		`{"v":1e0}`, `{"v":null}`, `{"v":"1"}`, `{"v":1,"more":1}`, `{"v":1,"session":18446744073709551616}`,
		`{"v":1,"ttl_ms":9223372036854775808}`, `{"v":1,"nonce":"\u0061"}`, "{\"v\":1,\"nonce\":\"\xff\"}", `{"v":1,"nonce":"é"}`,
		`{"v":1,"session":tru}`, `{"v":1,"fail_backs":256}`, `{"v":1,"nonce":true}`, `{"v":4294967296}`,
	} {
		for _, to := range flats() {
			if readFlat([]byte(text), to) || !reflect.ValueOf(to).Elem().IsZero() {
				t.Errorf("%s is read as %+v", text, to)
			}
		}
	}
}

// FuzzFlat: what is read without encoding/json is read alike with it.
func FuzzFlat(f *testing.F) {
	recordSeeds(f)
	f.Add([]byte(`{"v":1,"v":2,"nonce":"a","nonce":"","forced":true,"forced":false}`))
	f.Add([]byte(`{"v":1,"session":00,"beat":18446744073709551615,"workers":4294967296,"priority":2147483648}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, got := range flats() {
			if !readFlat(b, got) {
				continue
			}
			want := reflect.New(reflect.TypeOf(got).Elem()).Interface()
			if err := json.Unmarshal(b, want); err != nil || !reflect.DeepEqual(any(got), want) {
				t.Fatalf("%s is read as %+v, and with encoding/json as %+v, %v", b, got, want, err)
			}
		}
	})
}
