package mutants

import (
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Main is the subcommand mutants of the command campaign.
func Main(_ context.Context, args []string) error {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	root := flags.String("root", ".", "the root of the module")
	fail := flags.Bool("fail", false, "end with 1 if a death is of earlier sources")
	sum := flags.Bool("sum", false, "only say how many deaths there are, and what they took")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *sum {
		return tell(os.Stdout, *root)
	}
	older, err := ages(*root)
	if err == nil && *fail && older > 0 {
		err = fmt.Errorf("mutants: %d deaths are of earlier sources", older)
	}
	return err
}

// tell writes the tallies of all records.
func tell(w io.Writer, root string) error {
	var all Tally
	err := records(root, func(path string) error {
		tally, err := TallyOf(path)
		if err != nil {
			return err
		}
		all = all.With(tally)
		name, err := filepath.Rel(root, path)
		if err == nil {
			_, err = fmt.Fprintf(w, "%s: %v\n", filepath.ToSlash(name), tally)
		}
		return err
	})
	if err == nil {
		_, err = fmt.Fprintf(w, "all: %v\n", all)
	}
	return err
}

// records calls do with every record of the module.
func records(root string, do func(path string) error) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "mutants.csv" {
			return err
		}
		return do(path)
	})
}

// ages tells of every record of the module, and returns how many deaths are of earlier sources.
func ages(root string) (older int, err error) {
	err = records(root, func(path string) error {
		age, err := AgeOf(root, path)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %v\n", path, age)
		older += len(age.Older)
		return nil
	})
	return older, err
}
