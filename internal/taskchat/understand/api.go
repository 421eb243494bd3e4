package understand

type Intent string

const (
	Create   Intent = "create"
	List     Intent = "list"
	Update   Intent = "update"
	Complete Intent = "complete"
	Delete   Intent = "delete"
	Confirm  Intent = "confirm"
	Decline  Intent = "decline"
	Choose   Intent = "choose"
	Value    Intent = "value"
	Undo     Intent = "undo"
	Help     Intent = "help"
	Chat     Intent = "chat"
)

type Reference struct {
	Words     string
	Positions []int
	It        bool
	All       bool
	Except    *Reference
	Title     string
}
type Entities struct {
	Title          string
	Description    string
	HasDescription bool
	Status         string
	Newest         bool
	Reference      *Reference
}
type Alternative struct {
	Intent     Intent
	Confidence float64
	Entities   Entities
}
type Result struct {
	Intent       Intent
	Confidence   float64
	Entities     Entities
	Alternatives []Alternative
	Reasoning    string
}
type Open struct {
	Kind    string
	Intent  Intent
	Options []string
}
type Context struct {
	Shown    int
	Spoken   bool
	Open     *Open
	Language string
}
type Reading struct {
	Language string
	Results  []Result
}

func Read(words string, c Context) Reading { return Reading{} }
func Affirms(words string) bool            { return false }
