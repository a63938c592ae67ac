package guides

import (
	"context"
	"errors"
	"testing"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/assigntest"
)

// TestGroups: an album after its images, and a pipeline.
func TestGroups(t *testing.T) {
	n := assigntest.Start(t, func(a *assign.Assigner) {
		err := errors.Join(
			assign.Handle(a, thumbnail, func(_ context.Context, t *assign.Task[string]) (int, error) {
				return len(t.Input), nil
			}),
			assign.Handle(a, album, finishAlbum(a)),
			assign.Handle(a, fetch, func(_ context.Context, t *assign.Task[string]) (string, error) {
				return "page " + t.Input, nil
			}),
			assign.Handle(a, count, countWords(a)),
			assign.Handle(a, sum, func(ctx context.Context, t *assign.Task[[]assign.Ref[int]]) (string, error) {
				total := 0
				for _, r := range t.Input {
					n, err := r.Get(ctx, a)
					if err != nil {
						return "", err
					}
					total += n
				}
				return string(rune('a' + total)), nil
			}),
		)
		if err != nil {
			t.Error(err)
		}
	})
	got, err := makeAlbum(t.Context(), n, "rome", []string{"colosseum", "forum"})
	if got != "2 of 2, the first has 9 bytes" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	p, err := pipeline(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	if got, err = p.Wait(t.Context()); got != "q" || err != nil { // "page one" and "page two"
		t.Errorf("%q, %v", got, err)
	}
}
