package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rolemanager/rolemanager/propertytests/mutants"
)

func main() {
	root := flag.String("root", ".", "the root of the module")
	fail := flag.Bool("fail", false, "end with 1 if a death is of earlier sources")
	flag.Parse()
	older, err := ages(*root)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || *fail && older > 0 {
		os.Exit(1)
	}
}

// ages tells of every record of the module, and returns how many deaths are of earlier sources.
func ages(root string) (older int, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "mutants.csv" {
			return err
		}
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
