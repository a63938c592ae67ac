package bundles

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// met is a reading of records with so many names, at the revisions 1, 2, 3 …
func met(names ...string) (s Standing) {
	for i, name := range names {
		s.Meets(name, uint64(i+1))
	}
	return s
}

// TestWhatARefusedBundleHasMet: only a record of its own name says that the bundle is stored.
func TestWhatARefusedBundleHasMet(t *testing.T) {
	const name = "client.1.0"
	for what, x := range map[string]struct {
		stands Standing
		want   Fate
	}{
		"nothing, from a server that lags":           {met(), FateUnknown},
		"the bundle, or what has taken its place":    {met(name), FateStored},
		"the bundle, and a claim that came later":    {met(name, ClaimOf(name)), FateStored},
		"the bundle, after one of an earlier client": {met("client.1.7", name), FateStored},
		"the claim of its block":                     {met(ClaimOf(name)), FateOther},
		"a bundle of those who came before or after": {met("client.1.7"), FateOther},
	} {
		if fate := x.stands.FateOf(name); fate != x.want {
			t.Errorf("%s: %v, want %v", what, fate, x.want)
		}
	}
}

// TestAClaimThatIsReliedOn is one of this client, for a time, where the reading shows it.
func TestAClaimThatIsReliedOn(t *testing.T) {
	const block, sent = "client.1", record.Instant(time.Hour)
	c := NewClaims(time.Minute)
	c.Stored(block, 7, sent)
	for what, x := range map[string]struct {
		block string
		last  uint64
		after time.Duration
		want  bool
	}{
		"it was stored lately":               {block, 7, time.Second, true},
		"something came later":               {block, 9, time.Minute - 1, true},
		"it may go before a bundle has come": {block, 7, time.Minute, false},
		"the reading is from before it":      {block, 6, time.Second, false},
		"the reading shows nothing":          {block, 0, time.Second, false},
		"the claim is of another block":      {"client.2", 7, time.Second, false},
	} {
		if got := c.Hold(x.block, Standing{Last: x.last}, sent.Add(x.after)); got != x.want {
			t.Errorf("%s: %t, want %t", what, got, x.want)
		}
	}
	c.Stored(block, 8, sent.Add(time.Minute))
	if !c.Hold(block, Standing{Last: 8}, sent.Add(time.Minute)) {
		t.Error("the claim that was stored again is not relied on")
	}
}

// TestClaimsAreBounded: what a client remembers of them has a bound. The latest is always known.
func TestClaimsAreBounded(t *testing.T) {
	c := NewClaims(time.Minute)
	for i := range 3 * mostClaims {
		block := ID("client", i)
		c.Stored(block, 1, 1)
		if len(c.at) > mostClaims || !c.Hold(block, Standing{Last: 1}, 1) {
			t.Fatalf("after %d: %d, and the latest is known: %t", i+1, len(c.at), c.Hold(block, Standing{Last: 1}, 1))
		}
	}
}

// TestNoBundleHasTheNameOfAClaim: all tasks of a block have one claim, among the bundles of the
// block. No bundle of two tasks or more has its name.
func TestNoBundleHasTheNameOfAClaim(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const block = "client.1"
		claim := ClaimOf(ID(block, rapid.IntRange(0, Most-1).Draw(t, "task")))
		if of, index, ok := Split(claim); of != block || index != Most-1 || !ok {
			t.Fatalf("%s is at %d of block %q, %t", claim, index, of, ok)
		}
		indexes := rapid.SliceOfNDistinct(rapid.IntRange(0, Most-1), 2, Most, rapid.ID).Draw(t, "members")
		if name := ID(block, slices.Min(indexes)); name == claim {
			t.Fatalf("a bundle of %d has the name of the claim", len(indexes))
		}
	})
}
