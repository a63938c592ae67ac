package doctor

import (
	"fmt"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/wording"
)

var levelTones = [...]show.Tone{show.Good, show.Warning, show.Bad, show.Warning}

func report(a *cli.App, found findings.List) error {
	p := a.Printer()
	if found == nil {
		found = findings.List{}
	}
	switch p.Format {
	case "json":
		return p.JSON(struct {
			show.Document
			Bucket   string         `json:"bucket"`
			Status   findings.Level `json:"status"`
			Findings findings.List  `json:"findings"`
		}{show.Of("doctor"), a.Bucket, found.Worst(), found})
	case "name":
		t, named := show.Table{}, map[string]bool{}
		for _, f := range found {
			if f.Level != findings.OK && !named[f.Check] {
				named[f.Check] = true
				t.Rows = append(t.Rows, show.Row{Name: f.Check})
			}
		}
		return p.Print(t)
	}
	for _, f := range found {
		text := p.Paint(levelTones[f.Level], fmt.Sprintf("%-8s", f.Level)) +
			fmt.Sprintf("  %-11s  %s\n", f.Check, wording.Clean(f.Message))
		if f.Fix != "" {
			text += fmt.Sprintf("%8s  %11s  fix: %s\n", "", "", wording.Clean(f.Fix))
		}
		if _, err := p.W.Write([]byte(text)); err != nil {
			return err
		}
	}
	return nil
}
