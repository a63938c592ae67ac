package guides

import (
	"context"
	"fmt"

	"github.com/rolemanager/rolemanager/assign"
)

var (
	// thumbnail is the kind of the members. A member that fails does not stop the others.
	thumbnail = assign.NewKind[string, int]("thumbnail.v1", assign.MaxAttempts(3))
	// album is the kind of the completion, which gets the name of its group.
	album = assign.NewKind[assign.GroupRef, string]("album.v1")
)

// makeAlbum submits one task for each image, and one that runs after all of them.
func makeAlbum(ctx context.Context, to assign.Submitter, name string, images []string) (string, error) {
	group, err := assign.SubmitGroup(ctx, to, name, thumbnail, images, album)
	if err != nil {
		return "", err // call it again with the same images: it continues
	}
	return group.Wait(ctx)
}

// finishAlbum is the handler of the completion, in a process with the assigner a.
func finishAlbum(a *assign.Assigner) func(context.Context, *assign.Task[assign.GroupRef]) (string, error) {
	return func(ctx context.Context, t *assign.Task[assign.GroupRef]) (string, error) {
		members, err := t.Input.Status(ctx, a)
		if err != nil {
			return "", err
		}
		bytes := 0
		if members.Succeeded > 0 && len(members.Failed) == 0 {
			if bytes, err = assign.Find(a, thumbnail, t.Input.MemberID(0)).Wait(ctx); err != nil {
				return "", err
			}
		}
		return fmt.Sprintf("%d of %d, the first has %d bytes", members.Succeeded, members.Size, bytes), nil
	}
}

var (
	fetch = assign.NewKind[string, string]("fetch.v1")
	count = assign.NewKind[assign.Ref[string], int]("count.v1")
	sum   = assign.NewKind[[]assign.Ref[int], string]("sum.v1")
)

// pipeline counts two pages, each after it was fetched, and then adds up.
func pipeline(ctx context.Context, to assign.Submitter) (*assign.Pending[string], error) {
	var counts []*assign.Pending[int]
	for _, page := range []string{"one", "two"} {
		fetched, err := assign.Submit(ctx, to, fetch, page)
		if err != nil {
			return nil, err
		}
		counted, err := assign.Chain(ctx, to, count, fetched)
		if err != nil {
			return nil, err
		}
		counts = append(counts, counted)
	}
	return assign.FanIn(ctx, to, sum, counts)
}

// countWords is the handler of count: it reads the output that its task has waited for.
func countWords(a *assign.Assigner) func(context.Context, *assign.Task[assign.Ref[string]]) (int, error) {
	return func(ctx context.Context, t *assign.Task[assign.Ref[string]]) (int, error) {
		page, err := t.Input.Get(ctx, a)
		return len(page), err
	}
}
