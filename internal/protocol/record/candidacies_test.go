package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
)

// TestCandidaciesAreWrittenAsJSON: the list is written as encoding/json writes a map, and what is
// written is read without it, but for names that have to be quoted.
func TestCandidaciesAreWrittenAsJSON(t *testing.T) {
	all := map[string]Candidacy{
		"a": {
			Priority: -7, Takeover: true, Eligible: true, Spread: true, Group: "g", Tier: 3, Over: true, Waits: "l@b",
			Out: "paused",
		},
		"b":   {},
		"b.c": {Priority: 1<<31 - 1, Eligible: true, Group: "g"},
	}
	quoted := map[string]Candidacy{"<é\"\\&\x01>": {Group: "\u2028"}, "a": {Eligible: true}}
	for what, said := range map[string]map[string]Candidacy{"plain": all, "quoted": quoted, "none": {}} {
		want, err := json.Marshal(said)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(CandidaciesOf(said))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: written as %s, and with encoding/json as %s, %v", what, got, want, err)
		}
		var read, again Candidacies
		if plain := read.read(&scanner{got}); plain != (what == "plain") {
			t.Errorf("%s: read without encoding/json: %v", what, plain)
		}
		if err := json.Unmarshal(got, &again); err != nil || !again.Equal(CandidaciesOf(said)) {
			t.Errorf("%s: %s is read as %+v, %v", what, got, again, err)
		}
	}
}

// TestCandidaciesInOtherOrder: a list that is not in its order, or says something twice, is left to
// encoding/json, of which the last word counts.
func TestCandidaciesInOtherOrder(t *testing.T) {
	for _, text := range []string{`{"b":{},"a":{"priority":1}}`, `{"a":{},"b":{},"a":{"priority":1}}`} {
		var c Candidacies
		if c.read(&scanner{[]byte(text)}) {
			t.Errorf("%s is read as %+v", text, c)
		}
		m, err := DecodeMember([]byte(`{"v":1,"session":7,"roles":` + text + `}`))
		want := Candidacies{{Role: "a", Candidacy: Candidacy{Priority: 1}}, {Role: "b"}}
		if err != nil || !reflect.DeepEqual(m.Roles, want) {
			t.Errorf("%s is read as %+v, %v", text, m.Roles, err)
		}
	}
}

// FuzzCandidacies: what is written is read alike without encoding/json and with it, whatever is
// said, and whatever the names are.
func FuzzCandidacies(f *testing.F) {
	f.Add("a", "b", "g", int32(0), int32(0), byte(0))
	f.Add("orders-00", "orders-01", "orders", int32(-1<<31), int32(1<<31-1), byte(0xff))
	f.Add("<", "\xff", `"`, int32(7), int32(-1), byte(5))
	f.Fuzz(func(t *testing.T, a, b, group string, priority, tier int32, flags byte) {
		first := Candidacy{
			Priority: priority, Tier: tier, Takeover: flags&1 > 0, Eligible: flags&2 > 0, Spread: flags&4 > 0, Over: flags&8 > 0,
		}
		second := first
		second.Group, second.Eligible = group, flags&16 > 0
		said := map[string]Candidacy{a: first, b: second, a + b: second}
		text := Encode(Member{V: 1, Session: 7, Roles: CandidaciesOf(said), Zone: "z"})
		var want struct {
			Roles map[string]Candidacy `json:"roles"`
		}
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got, err := DecodeMember(text)
		if err != nil || !got.Roles.Equal(CandidaciesOf(want.Roles)) {
			t.Fatalf("%s is read as %+v, and with encoding/json as %+v, %v", text, got.Roles, want.Roles, err)
		}
		for role, said := range want.Roles {
			if is, ok := got.Candidacy(role); !ok || is != said {
				t.Fatalf("%s: %+v of %q, want %+v", text, is, role, said)
			}
		}
	})
}

func BenchmarkDecodeMember(b *testing.B) {
	m := Member{V: 1, Session: 7}
	said := Candidacy{Eligible: true, Spread: true, Group: "orders"}
	for i := range 1000 {
		m.Roles = append(m.Roles, RoleCandidacy{fmt.Sprintf("orders-%03d", i), said})
	}
	text := Encode(m)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeMember(text); err != nil {
			b.Fatal(err)
		}
	}
}
