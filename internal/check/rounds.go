package main

import (
	"context"
	"os"
	"slices"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough/draw"
)

// A round is what one commit of twelve does beside what all do: the nested modules that it tries,
// and the stage that it computes.
type round struct {
	modules  []string
	computes string
}

// rounds have every nested module and every stage in turn. To compile what all modules need takes
// longer than all other stages if nothing was compiled before. So those that need the same are
// together, and those that need the most come the most rarely.
//
// The fuzzer builds the server in the first round of three, see serverTurns in
// propertytests/campaign/fuzz, and the plans of the play stage come by halves: each stage meets
// both of its cases.
var rounds = [...]round{
	0: {lightest, "fuzz"}, 1: {onKubernetes, "mutants"}, 2: {onDeploy, "fuzz"},
	3: {lightest, "play"}, 4: {nil, "fuzz"}, 5: {nil, "play"},
	6: {lightest, "fuzz"}, 7: {nil, "mutants"}, 8: {onDeploy, "play"},
	9: {lightest, "mutants"}, 10: {nil, "play"}, 11: {beside, "mutants"},
}

var (
	lightest     = []string{"dashboard/pagetest", "examples/fencing/sqlite", "examples/postgres"}
	onKubernetes = []string{"examples/kubernetes", "kube/controllerruntime"}
	onDeploy     = []string{"deploy/check"}
	beside       = []string{"bench/peers"}
)

// computing are the stages that have their turns.
var computing = []string{"mutants", "play", "fuzz"}

// turnOf is the round of a commit.
func turnOf(commit string) round { return rounds[draw.Turn(commit, len(rounds))] }

// inTurn are the stages without those whose turn it is not. With THOROUGH=all, or outside a
// repository, all have their turn.
func inTurn(ctx context.Context, all []stage) []stage {
	seed := commit(ctx)
	if os.Getenv(draw.Key) == draw.All || seed == unknown {
		return all
	}
	computes := turnOf(seed).computes
	return slices.DeleteFunc(slices.Clone(all), func(s stage) bool {
		return s.name != computes && slices.Contains(computing, s.name)
	})
}
