package taskchat

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"sibyl/internal/text"
)

// Domain is the application_domain of every conversation.
const Domain = "task_management"

// keptConfidences is how many confidences a conversation remembers.
const keptConfidences = 3

// Metadata is what a conversation remembers besides its messages (requirement 3, Enhanced Metadata Schema). The row of
// each of its runs has it as it was after that message.
type Metadata struct {
	TaskReferences     map[string]int64 `json:"task_references,omitempty" doc:"The id of the task at each position of the last list shown."`
	ReferencedAt       *time.Time       `json:"referenced_at,omitempty" doc:"When that list was shown."`
	LastToolUsed       string           `json:"last_tool_used,omitempty"`
	LastToolParameters json.RawMessage  `json:"last_tool_parameters,omitempty"`
	AgentContext       AgentContext     `json:"agent_context"`
}

// AgentContext is the agent's own part of Metadata.
type AgentContext struct {
	ApplicationDomain  string      `json:"application_domain"`
	ConfidenceHistory  []float64   `json:"confidence_history" doc:"Of the last three intents."`
	ClarificationCount int         `json:"clarification_count"`
	LastTask           int64       `json:"last_task,omitempty" doc:"What “it” means."`
	Language           string      `json:"language,omitempty" doc:"Of the last message."`
	Unlisted           bool        `json:"unlisted,omitempty" doc:"The last list had more tasks than were shown."`
	Shown              []string    `json:"shown,omitempty" doc:"The titles of the last list."`
	Changes            [][]Changed `json:"changes,omitempty" doc:"What can be undone, for each message, the oldest first."`
}

// Changed is a task that was changed, and its version since; of a deleted one, the version that was deleted.
type Changed struct {
	ID      int64 `json:"id"`
	Version int64 `json:"version"`
}

// keptChanges is how many of its changes a conversation can undo.
const keptChanges = 5

// rememberChange adds the tasks that one act changed to the changes that can be undone.
func (m *Metadata) rememberChange(tasks []Changed) {
	if len(tasks) > 0 {
		m.AgentContext.Changes = append(slices.Clip(m.AgentContext.Changes), tasks)
	}
}

// joinChanges makes one change of all that came after those before, since what one message did is undone together, and
// keeps the last of the changes.
func (m *Metadata) joinChanges(before [][]Changed) {
	all, same := m.AgentContext.Changes, 0
	for same < min(len(all), len(before)) && slices.Equal(all[same], before[same]) {
		same++
	}
	if same < len(all) {
		all = append(slices.Clip(all[:same]), slices.Concat(all[same:]...))
	}
	m.AgentContext.Changes = all[max(len(all)-keptChanges, 0):]
}

// Validate checks the rules of the requirement (Conversation Metadata Validation).
func (m *Metadata) Validate() error {
	for key := range m.TaskReferences {
		if n, err := strconv.Atoi(key); err != nil || n < 1 || strconv.Itoa(n) != key {
			return fmt.Errorf("task_references: the key %q is no position: a whole number from 1", key)
		}
	}
	switch {
	case len(m.TaskReferences) > 0 && m.ReferencedAt == nil:
		return errors.New("referenced_at is required when task_references are there")
	case m.AgentContext.ApplicationDomain != Domain:
		return fmt.Errorf("agent_context.application_domain is %q, not %q", m.AgentContext.ApplicationDomain, Domain)
	case len(m.AgentContext.ConfidenceHistory) > keptConfidences:
		return fmt.Errorf("agent_context.confidence_history has %d entries; the last %d are kept",
			len(m.AgentContext.ConfidenceHistory), keptConfidences)
	case m.AgentContext.ClarificationCount < 0:
		return errors.New("agent_context.clarification_count is negative")
	}
	return nil
}

// newMetadata is the metadata of a new conversation.
func newMetadata() Metadata {
	return Metadata{AgentContext: AgentContext{ApplicationDomain: Domain, ConfidenceHistory: []float64{}}}
}

// rememberList makes a list the one that positions refer to, even if it is empty.
func (m *Metadata) rememberList(tasks []Item, unlisted bool, at time.Time) {
	m.TaskReferences, m.ReferencedAt, m.AgentContext.Unlisted = idsByPosition(tasks), &at, unlisted
	m.AgentContext.Shown = itemLabels(tasks)
}

// rememberVisible makes what the person sees beside the conversation the list that positions refer to.
func (m *Metadata) rememberVisible(tasks []Visible, at time.Time) {
	items := make([]Item, min(len(tasks), mostVisible))
	for n := range items {
		items[n] = Item{ID: tasks[n].ID, Title: text.Brief(tasks[n].Title, mostVisibleTitle)}
	}
	m.rememberList(items, len(items) < len(tasks), at)
}

// rememberListWithin is rememberList for the rest of the message that shows the list. The person may mean this list or
// the one before: where the two differ, positions mean nothing.
func (m *Metadata) rememberListWithin(tasks []Item, unlisted bool) {
	shown := idsByPosition(tasks)
	if len(m.TaskReferences) > 0 && !maps.Equal(m.TaskReferences, shown) {
		shown = nil
	}
	m.TaskReferences, m.AgentContext.Unlisted = shown, unlisted
}

// forgetUnseen drops the meanings of positions and “it” that changed with the last message. The person wrote before
// they saw its answer, and can't have meant those.
func (m *Metadata) forgetUnseen(before Metadata) {
	if !maps.Equal(m.TaskReferences, before.TaskReferences) {
		m.TaskReferences, m.ReferencedAt, m.AgentContext.Unlisted, m.AgentContext.Shown = nil, nil, false, nil
	}
	if !reflect.DeepEqual(m.AgentContext.Changes, before.AgentContext.Changes) {
		m.AgentContext.Changes = nil
	}
	if m.AgentContext.LastTask != before.AgentContext.LastTask {
		m.AgentContext.LastTask = 0
	}
}

func idsByPosition(tasks []Item) map[string]int64 {
	at := make(map[string]int64, len(tasks))
	for i, t := range tasks {
		at[strconv.Itoa(i+1)] = t.ID
	}
	return at
}

// idAtPosition is the id at a position of the list that was shown last; negative positions count from its end.
func (m *Metadata) idAtPosition(position int) (id int64, ok bool) {
	if position < 0 {
		position += len(m.TaskReferences) + 1
	}
	id, ok = m.TaskReferences[strconv.Itoa(position)]
	return id, ok
}

// wholeList is listedIDs, or none if the list had more tasks than were shown: then nobody knows which tasks “all”
// means.
func (m *Metadata) wholeList() (ids []int64) {
	if m.AgentContext.Unlisted {
		return nil
	}
	return m.listedIDs()
}

// listedIDs are the tasks of the last list, in order.
func (m *Metadata) listedIDs() (ids []int64) {
	for i := 1; i <= len(m.TaskReferences); i++ {
		ids = append(ids, m.TaskReferences[strconv.Itoa(i)])
	}
	return ids
}

func (m *Metadata) rememberConfidence(confidence float64) {
	all := append(slices.Clip(m.AgentContext.ConfidenceHistory), confidence)
	m.AgentContext.ConfidenceHistory = all[max(len(all)-keptConfidences, 0):]
}
