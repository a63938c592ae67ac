package schedules

import (
	"cmp"
	"context"
	"flag"
	"os"
	"time"
)

// Main is the subcommand schedules.
func Main(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("schedules", flag.ContinueOnError)
	of := flags.String("of", "elections", "what to play: elections, losses, tasks, deploys, storms, taskstorms")
	length := flags.Duration("for", 10*time.Minute, "how long; the range that is being played is finished")
	schedules := flags.Int("range", 0,
		"how many schedules of each range, or virtual hours; 0: 15,000, 200 of storms, 16 of taskstorms, 168 of deploys")
	path := flags.String("file", "propertytests/campaign/schedules.csv", "the file, from the root of the module")
	sum := flags.Bool("sum", false, "only say what the file comes to")
	uses := flags.Bool("rules", false, "only say how often single rules were used")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *sum {
		return summed(os.Stdout, *path)
	}
	if *uses {
		all, err := useTable(*path).Read()
		if err != nil {
			return err
		}
		return tellUses(os.Stdout, all)
	}
	return play(ctx, *of, *path, *schedules, *length)
}

func play(ctx context.Context, of, path string, schedules int, length time.Duration) error {
	k, err := kindOf(of)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "schedules-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p := rangePlayer{kind: k, path: path, schedules: cmp.Or(schedules, k.usual)}
	if err := p.build(ctx, dir); err != nil {
		return err
	}
	for end := time.Now().Add(length); time.Now().Before(end) && ctx.Err() == nil; {
		if err := p.next(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}
