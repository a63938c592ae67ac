package guides

import (
	"context"
	"testing"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/assigntest"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestMigrated: the functions that the guides to migrate end with lead, and return when the work
// has. Both have the same role, one after the other.
func TestMigrated(t *testing.T) {
	nc := natstest.Connect(t, natstest.Server(t))
	if _, err := natskv.Create(t.Context(), nc, natskv.Config{Bucket: "roles"}); err != nil {
		t.Fatal(err)
	}
	for name, run := range map[string]func(context.Context, func(context.Context)) error{
		"elect": func(ctx context.Context, work func(context.Context)) error { return elect(ctx, nc, work) },
		"campaign": func(ctx context.Context, work func(context.Context)) error {
			return campaign(ctx, nc, "vm-1", func(ctx context.Context) error { work(ctx); return nil })
		},
	} {
		ctx, stop := context.WithCancel(t.Context())
		worked := false
		err := run(ctx, func(ctx context.Context) {
			stop()
			<-ctx.Done()
			worked = true
		})
		if err != nil || !worked {
			t.Errorf("%s: %t, %v", name, worked, err)
		}
	}
}

func TestPreviews(t *testing.T) {
	tasks := assigntest.Start(t, func(a *assign.Assigner) {
		if err := previews(a, func(_ context.Context, image string) (int, error) { return len(image), nil }); err != nil {
			t.Fatal(err)
		}
	})
	task, err := enqueue(t.Context(), tasks, "cat.png")
	if err != nil {
		t.Fatal(err)
	}
	if width, err := task.Wait(t.Context()); width != len("cat.png") || err != nil {
		t.Errorf("%d, %v", width, err)
	}
}
