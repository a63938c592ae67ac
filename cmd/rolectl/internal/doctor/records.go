package doctor

import (
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// records checks that all records of the bucket can be read.
func (x *examination) records() {
	bad := 0
	for _, r := range x.s.All() {
		if r.Kind == record.KindOther {
			continue
		}
		switch r.Form {
		case record.FormGarbage:
			x.Add(findings.Warning, "records",
				"find out which program writes there (nats kv get "+x.a.Bucket+" "+wording.Clean(r.Key)+
					"); members overwrite the record after a while",
				"%s cannot be read: %s", r.Key, r.Problem)
		case record.FormNewer:
			x.Add(findings.Warning, "records",
				"upgrade the older members, and this program", "%s was written by a later version", r.Key)
		default:
			continue
		}
		if bad++; bad == 20 {
			x.Add(findings.Warning, "records", "fix the records above first", "there are more records that cannot be read")
			return
		}
	}
	if bad == 0 {
		x.OK("records", "all can be read")
	}
}
