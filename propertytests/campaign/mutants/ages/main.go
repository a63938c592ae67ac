package main

import (
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rolemanager/rolemanager/propertytests/campaign/mutants"
)

func main() {
	root := flag.String("root", ".", "the root of the module")
	fail := flag.Bool("fail", false, "end with 1 if a death is of earlier sources")
	sum := flag.Bool("sum", false, "only say how many deaths there are, and what they took")
	flag.Parse()
	if *sum {
		if err := tell(os.Stdout, *root); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	older, err := ages(*root)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || *fail && older > 0 {
		os.Exit(1)
	}
}

// tell writes the tallies of all records.
func tell(w io.Writer, root string) error {
	var all mutants.Tally
	err := records(root, func(path string) error {
		tally, err := mutants.TallyOf(path)
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
		age, err := mutants.AgeOf(root, path)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %v\n", path, age)
		older += len(age.Older)
		return nil
	})
	return older, err
}
