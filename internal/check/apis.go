package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// kept reports whether a file shows an API of which nothing has gone or changed in the last
// commits: what uses it compiles as before.
func kept(ctx context.Context, file string) bool {
	if !strings.HasSuffix(filepath.ToSlash(filepath.Dir(file)), apis) {
		return false
	}
	dir := filepath.Dir(file)
	commits, err := git(ctx, dir, "rev-list", "--first-parent", fmt.Sprint("-", unchecked+1), "HEAD")
	if err != nil || commits == "" {
		return false
	}
	before := strings.Fields(commits)
	old, err := git(ctx, dir, "show", before[len(before)-1]+":./"+filepath.Base(file))
	if err != nil {
		return false // there was none
	}
	now, err := os.ReadFile(file)
	return err == nil && keeps(old, string(now))
}

// keeps reports whether all declarations of what go doc has shown are among those of now. A struct
// may have more fields: go vet refuses literals without their names.
func keeps(before, now string) bool {
	all, structs := declarations(now), map[string][]string{}
	for d := range all {
		if head, fields, is := strings.Cut(d, " struct {\n"); is {
			structs[head] = strings.Split(fields, "\n")
		}
	}
	for d := range declarations(before) {
		head, fields, is := strings.Cut(d, " struct {\n")
		if !all[d] && !(is && grown(strings.Split(fields, "\n"), structs[head])) {
			return false
		}
	}
	return true
}

// grown reports whether some fields are all there, in their order, with none beside them whose type
// makes the struct one that == does not compare.
func grown(before, now []string) bool {
	for _, field := range now {
		if len(before) > 0 && field == before[0] {
			before = before[1:]
		} else if incomparable.MatchString(field) {
			return false
		}
	}
	return len(before) == 0
}

// incomparable are types of fields, but for those that have a name.
var incomparable = regexp.MustCompile(`\[\]|map\[|func\(`)

// declarations are those that go doc -all shows: each begins a line, and its other lines begin with
// a tab. Comments are left out, and the documentation of the package, which comes first.
func declarations(shown string) map[string]bool {
	all := map[string]bool{}
	begin := firstSection.FindStringIndex(shown)
	if begin == nil {
		return all
	}
	present := ""
	for line := range strings.Lines(shown[begin[0]:]) {
		code, _, _ := strings.Cut(line, "//")
		switch {
		case strings.TrimSpace(code) == "" || strings.HasPrefix(line, "    "):
		case strings.HasPrefix(line, "\t"), line[0] == '}', line[0] == ')':
			present += strings.TrimSpace(code) + "\n"
		default:
			all[present] = true
			present = strings.TrimSpace(code) + "\n"
		}
	}
	all[present] = true
	return all
}

// firstSection follows the documentation of the package.
var firstSection = regexp.MustCompile(`(?m)^(CONSTANTS|VARIABLES|FUNCTIONS|TYPES)$`)

// apis is the folder of the files that show the APIs.
const apis = "internal/architecture/testdata/api"

// api is the file that shows the API of a public package, "" for another one.
func api(pkg string) string {
	file := path.Join(apis, strings.ReplaceAll(pkg, "/", "_")+".txt")
	if _, err := os.Stat(filepath.FromSlash(file)); err != nil {
		return ""
	}
	return file
}
