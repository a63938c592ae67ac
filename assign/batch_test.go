package assign_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

func TestBatchOfSubmissions(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		ran := newTally()
		newNode(t, s, "a", doubling(t, "a", ran))
		c := New(t, s)
		inputs := make([]int, 1000)
		for i := range inputs {
			inputs[i] = i
		}
		all, err := assign.SubmitBatch(t.Context(), c, double, inputs, assign.WithEach(func(i int) []assign.SubmitOption {
			return []assign.SubmitOption{assign.WithID(fmt.Sprint("n-", i/2))} // each id twice
		}))
		if err != nil || len(all) != len(inputs) {
			t.Fatalf("%d, %v", len(all), err)
		}
		existing := 0
		for i, p := range all {
			if p.ID() != fmt.Sprint("n-", i/2) {
				t.Fatalf("input %d is task %s", i, p.ID())
			}
			if p.Existing() {
				existing++
			}
			if out, err := p.Wait(t.Context()); err != nil || out/2 != i && out/2 != i^1 {
				t.Errorf("input %d: %d, %v", i, out, err)
			}
		}
		if existing != len(inputs)/2 || len(ran.of) != len(inputs)/2 {
			t.Errorf("%d were there, %d ran, of %d", existing, len(ran.of), len(inputs))
		}
	})
}

// TestBatchOfUniqueSubmissions: each of them is an atomic batch for the server, which takes fewer
// at once than there are here.
func TestBatchOfUniqueSubmissions(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		c := New(t, s)
		unique := assign.WithEach(func(i int) []assign.SubmitOption {
			return []assign.SubmitOption{assign.WithUnique(fmt.Sprint("key ", i))}
		})
		first, err := assign.SubmitBatch(t.Context(), c, double, make([]int, 80), unique)
		if err != nil {
			t.Fatal(err)
		}
		second, err := assign.SubmitBatch(t.Context(), c, double, make([]int, 80), unique)
		if err != nil {
			t.Fatal(err)
		}
		for i := range first {
			if first[i].Existing() || !second[i].Existing() || first[i].ID() != second[i].ID() {
				t.Errorf("key %d: %s %v, then %s %v", i, first[i].ID(), first[i].Existing(), second[i].ID(), second[i].Existing())
			}
		}
	})
}

func TestBatchSaysWhatIsNotStored(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c := New(t, s)
		texts := assign.NewKind[string, string]("texts")
		large := strings.Repeat("x", 2<<20)
		all, err := assign.SubmitBatch(t.Context(), c, texts, []string{"a", large, "b"})
		if !errors.Is(err, assign.ErrTooLarge) || !strings.Contains(err.Error(), "input 1") {
			t.Errorf("%v", err)
		}
		if len(all) != 3 || all[0] == nil || all[1] != nil || all[2] == nil {
			t.Errorf("%v", all)
		}
		for _, o := range []assign.SubmitOption{assign.WithID("x"), assign.WithUnique("x")} {
			if _, err := assign.SubmitBatch(t.Context(), c, texts, []string{"a", "b"}, o); !errors.Is(err,
				assign.ErrInvalidOption) {
				t.Errorf("one name for many: %v", err)
			}
		}
		if all, err := assign.SubmitBatch(t.Context(), c, texts, nil); err != nil || len(all) != 0 {
			t.Errorf("nothing: %v, %v", all, err)
		}
	})
}
