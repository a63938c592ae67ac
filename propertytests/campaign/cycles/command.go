package cycles

import (
	"context"
	"errors"
	"flag"
	"os"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Main is the subcommand cycles.
func Main(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("cycles", flag.ContinueOnError)
	of := flags.String("of", "", "only the tests whose name matches")
	cycles := flags.Int("cycles", 50, "how many cycles of each test the file shall have, of the product as it is")
	part := flags.Int("part", 10, "how many of them make a line of the file")
	seed := flags.String("seed", "", "what draws every other of the tests; if empty, all are played")
	lanes := flags.Int("lanes", 1, "how many tests are played at a time")
	path := flags.String("file", "propertytests/campaign/cycles.csv",
		"the file, from the root of the module; if empty, nothing is put on record")
	sum := flags.Bool("sum", false, "only say what the file comes to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *sum {
		return summed(ctx, os.Stdout, *of, *path)
	}
	all, err := matching(*of)
	if err != nil {
		return err
	}
	return play(ctx, drawn(all, *seed), *path, *cycles, *part, *lanes)
}

// play continues until the file has so many cycles of each test.
func play(ctx context.Context, all []test, path string, cycles, part, lanes int) error {
	if cycles < 1 || part < 1 || lanes < 1 {
		return errors.New("cycles: -cycles, -part and -lanes are 1 at least")
	}
	dir, err := os.MkdirTemp("", "cycles-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p := player{path: path}
	if err := p.build(ctx, dir); err != nil {
		return err
	}
	playing, unlessOneFails := errgroup.WithContext(ctx)
	playing.SetLimit(lanes)
	for _, t := range slices.Backward(all) { // so that in the end no lane is alone with the longest
		playing.Go(func() error { return p.play(unlessOneFails, t, cycles, part) })
	}
	if err := playing.Wait(); ctx.Err() == nil {
		return err
	}
	return nil
}
