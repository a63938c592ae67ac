package permissions_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	userLine = regexp.MustCompile(`\{ user: (\w+), password`)
	grant    = regexp.MustCompile(`"[^"]+"`)
	// flow control, and bundles: used under load only
	underLoad = regexp.MustCompile(`^"(\$JS\.FC|\$KV\.TASKS_jobs\.[be])\.`)
	verdict   = regexp.MustCompile(`(?m)^.*(the server complains:\n.*|_test\.go:\d+: .*|panic: .*)`)
)

// TestEveryGrantIsNeeded proves that the published sets are the least: without any one of their
// grants something fails, or the server complains. It plays everything once for each grant, so it
// runs only with MUTANTS=1.
func TestEveryGrantIsNeeded(t *testing.T) {
	if os.Getenv("MUTANTS") == "" {
		t.Skip("set MUTANTS=1 to play everything once for each grant that is taken away")
	}
	text, err := os.ReadFile("testdata/permissions.conf")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	user := ""
	for i, line := range lines {
		if m := userLine.FindStringSubmatch(line); m != nil {
			user = m[1]
		}
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for _, at := range grant.FindAllStringIndex(line, -1) {
			subject := line[at[0]:at[1]]
			if !strings.ContainsAny(subject, ".") || underLoad.MatchString(subject) {
				continue
			}
			t.Run(user+" without "+strings.Trim(subject, `"`), func(t *testing.T) {
				without := line[:at[0]] + `"nothing"` + line[at[1]:] // an empty list would allow everything
				missed(t, strings.Join(lines[:i], "")+without+strings.Join(lines[i+1:], ""))
			})
		}
	}
	t.Run("w with one answer for each request", func(t *testing.T) {
		before, after, _ := strings.Cut(string(text), "{ user: w,")
		missed(t, before+"{ user: w,"+strings.Replace(after, `allow_responses: { max: 1024, expires: "5m" }`, "allow_responses: true", 1))
	})
}

// missed plays everything with other permissions, and wants it to fail.
func missed(t *testing.T, text string) {
	file := filepath.Join(t.TempDir(), "permissions.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	const run = "^Test(PublishedSetsSuffice|RestartsBesideAnIdleLease|AddsShards)$"
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", run, "-test.timeout", "20s")
	cmd.Env = append(os.Environ(), instead+"="+file)
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatal("nobody misses it")
	}
	if found := verdict.Find(out); found != nil {
		t.Logf("%.300s", found)
	} else {
		t.Fatalf("failed for no reason that can be read:\n%.2000s", out)
	}
}
