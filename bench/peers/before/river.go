package before

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
)

// Render makes a preview of an image, and returns its width.
type Render func(ctx context.Context, image string) (width int, err error)

// Preview is a type of job.
type Preview struct {
	Image string `json:"image"`
}

// Kind implements river.JobArgs.
func (Preview) Kind() string { return "preview" }

// Previews runs the jobs.
type Previews struct {
	river.WorkerDefaults[Preview]
	Render Render
}

// Work runs one job.
func (w *Previews) Work(ctx context.Context, job *river.Job[Preview]) error {
	width, err := w.Render(ctx, job.Args.Image)
	if err != nil {
		return err
	}
	return river.RecordOutput(ctx, width)
}

// Enqueue inserts one job.
func Enqueue(ctx context.Context, client *river.Client[pgx.Tx], image string) error {
	_, err := client.Insert(ctx, Preview{Image: image}, &river.InsertOpts{MaxAttempts: 3})
	return err
}
