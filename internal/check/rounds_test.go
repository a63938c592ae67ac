package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough/draw"
)

// TestRounds: each stage that has its turns has as many as the others, and each half of them where
// it draws one of two or of three by the same hash.
func TestRounds(t *testing.T) {
	met := map[string]int{}
	for i, r := range rounds {
		if !slices.Contains(computing, r.computes) {
			t.Errorf("round %d computes %q", i, r.computes)
		}
		met[r.computes]++
		met[fmt.Sprint(r.computes, " of two: ", i%2)]++
		met[fmt.Sprint(r.computes, " of three: ", i%3 == 0)]++
	}
	for _, want := range append(slices.Clone(computing), "play of two: 0", "play of two: 1",
		"fuzz of three: true", "fuzz of three: false") {
		if least := 2; met[want] < least {
			t.Errorf("%s: %d rounds, want %d: %v", want, met[want], least, met)
		}
	}
	for seed := range 100 {
		seed, n := fmt.Sprint(seed), len(rounds)
		if i := draw.Turn(seed, n); draw.Turn(seed, 2) != i%2 || draw.Turn(seed, 3) != i%3 {
			t.Errorf("seed %s: round %d says nothing of the turns of two and three", seed, i)
		}
	}
}

// TestInTurn: without names a commit runs all stages but those of other rounds, and with
// THOROUGH=all every one. Named ones run whosever turn it is.
func TestInTurn(t *testing.T) {
	t.Chdir("../..")
	seed := commit(t.Context())
	if seed == unknown {
		t.Skip("these sources are in no repository")
	}
	t.Setenv(draw.Key, "")
	some := inTurn(t.Context(), stages)
	if len(some) != len(stages)-len(computing)+1 {
		t.Errorf("%d of %d stages", len(some), len(stages))
	}
	for _, s := range some {
		if slices.Contains(computing, s.name) && s.name != turnOf(seed).computes {
			t.Errorf("%s is run in another round", s.name)
		}
	}
	t.Setenv(draw.Key, draw.All)
	if all := inTurn(t.Context(), stages); len(all) != len(stages) {
		t.Errorf("with %s=%s %d of %d stages", draw.Key, draw.All, len(all), len(stages))
	}
}
