package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

const program = `package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() { os.Exit(cli.Run(app.NewAPIServerCommand())) }
`

// staged are the modules that k8s.io/kubernetes takes from its own tree.
var staged = regexp.MustCompile(`(?m)^\s*(k8s\.io/\S+) => \./staging/`)

func main() {
	dir := flag.String("o", "kubernetes", "where the binaries go")
	version := flag.String("kubernetes", "1.37.2", "version of Kubernetes")
	etcd := flag.String("etcd", "3.7.0", "version of etcd")
	flag.Parse()
	if err := build(*dir, *version, *etcd); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func build(dir, version, etcd string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	apiserver, err := module(filepath.Join(dir, "apiserver"), "module apiserver\n\ngo 1.26.0\n", program)
	if err != nil {
		return err
	}
	out, err := goTool(apiserver, "list", "-m", "-f={{.GoMod}}", "k8s.io/kubernetes@v"+version)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(strings.TrimSpace(string(out)))
	if err != nil {
		return err
	}
	edits := []string{"mod", "edit", "-require=k8s.io/kubernetes@v" + version}
	for _, m := range staged.FindAllSubmatch(text, -1) {
		_, minor, _ := strings.Cut(version, ".") // 1.37.2 has modules v0.37.2
		edits = append(edits, fmt.Sprintf("-replace=%s=%s@v0.%s", m[1], m[1], minor))
	}
	store, err := module(filepath.Join(dir, "store"), "module store\n\ngo 1.26.0\n",
		"//go:build never\n\npackage store\n\nimport _ \"go.etcd.io/etcd/server/v3\"\n")
	if err != nil {
		return err
	}
	for _, run := range []struct {
		in   string
		args []string
	}{
		{apiserver, edits},
		{apiserver, []string{"mod", "tidy", "-e"}},
		{apiserver, []string{"build", "-ldflags=-s -w", "-o", filepath.Join(dir, "kube-apiserver"), "."}},
		{store, []string{"get", "go.etcd.io/etcd/server/v3@v" + etcd}},
		{store, []string{"build", "-ldflags=-s -w", "-o", filepath.Join(dir, "etcd"), "go.etcd.io/etcd/server/v3"}},
	} {
		if _, err := goTool(run.in, run.args...); err != nil {
			return err
		}
	}
	fmt.Printf("export ROLEMANAGER_APISERVER=%s/kube-apiserver ROLEMANAGER_ETCD=%s/etcd\n", dir, dir)
	return nil
}

// module makes a module with one file.
func module(dir, mod, file string) (string, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o600); err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "main.go"), []byte(file), 0o600)
}

func goTool(dir string, args ...string) ([]byte, error) {
	fmt.Fprintln(os.Stderr, "go", args[0], args[1])
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
	return cmd.Output()
}
