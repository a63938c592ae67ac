package check

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestPromtool: promtool takes the rules, and their tests pass.
func TestPromtool(t *testing.T) {
	t.Parallel()
	inCI := os.Getenv("CI") != ""
	if os.Getenv("PROMTOOL") == "off" && !inCI {
		t.Skip("PROMTOOL=off: the alerts are not tried by promtool")
	}
	promtool, err := installed()
	switch {
	case err != nil && inCI:
		t.Fatal(err)
	case err != nil:
		t.Skipf("the alerts are not tried by promtool: %v", err)
	}
	for _, args := range [][]string{{"check", "rules", "rules.yml"}, {"test", "rules", "rules_test.yml"}} {
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		cmd.Dir = "../prometheus"
		out, err := cmd.CombinedOutput()
		t.Logf("promtool %v\n%s", args, out)
		if err != nil {
			t.Errorf("promtool %v: %v", args, err)
		}
	}
}

// installed finds promtool, or unpacks it from Debian's package, which installs nothing and starts
// no server.
func installed() (string, error) {
	if path, err := exec.LookPath("promtool"); err == nil {
		return path, nil
	}
	kept, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(kept, "rolemanager-promtool")
	promtool := filepath.Join(dir, "usr", "bin", "promtool")
	if _, err := os.Stat(promtool); err == nil {
		return promtool, nil
	}
	unpacked, err := os.MkdirTemp("", "promtool-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(unpacked)
	const unpack = `set -e
fetch() { apt-get -q download prometheus; }
root=; [ "$(id -u)" = 0 ] || root='sudo -n'
fetch || { $root apt-get -q update && fetch; }
dpkg-deb --extract prometheus_*.deb tree
mkdir -p "$1/usr/bin"
cp tree/usr/bin/promtool "$1/usr/bin/promtool.$$"
mv "$1/usr/bin/promtool.$$" "$1/usr/bin/promtool"`
	cmd := exec.Command("sh", "-c", unpack, "sh", dir)
	cmd.Dir = unpacked
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("there is no promtool, and Debian's package prometheus cannot be had: %w\n%s", err, out)
	}
	return promtool, nil
}
