package understand

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/quick"
	"unicode/utf8"
)

// said is a reading in one line: create "milk"; complete #2 -1; delete it; list (completed); update all [mail] = "post".
func said(r Reading) string {
	var all []string
	for _, x := range r.Results {
		all = append(all, x.Intent.said(x.Entities))
	}
	return strings.Join(all, "; ")
}

func (i Intent) said(e Entities) string {
	s := string(i)
	if e.Reference != nil {
		s += " " + e.Reference.said()
	}
	if e.Title != "" {
		s += fmt.Sprintf(" %q", e.Title)
	}
	if e.HasDescription {
		s += fmt.Sprintf(" note %q", e.Description)
	}
	if e.Status != "" {
		s += " (" + e.Status + ")"
	}
	if e.Reminder {
		s += " !"
	}
	return s
}

func (r *Reference) said() string {
	var s []string
	for _, p := range r.Positions {
		s = append(s, fmt.Sprintf("#%d", p))
	}
	if r.It {
		s = append(s, "it")
	}
	if r.Both {
		s = append(s, "both")
	} else if r.All {
		s = append(s, "all")
	}
	if r.Except != nil {
		s = append(s, "but "+r.Except.said())
	}
	if r.Title != "" {
		s = append(s, "["+r.Title+"]")
	}
	return strings.Join(s, " ")
}

func check(t *testing.T, c Context, table [][2]string) {
	t.Helper()
	for _, one := range table {
		if got := said(Read(one[0], c)); got != one[1] {
			t.Errorf("%q\n\tgot  %s\n\twant %s", one[0], got, one[1])
		}
	}
}

func TestPlainFormsInEnglish(t *testing.T) {
	check(t, Context{}, [][2]string{
		{"add milk", `create "milk"`}, {"Add a task: Email Dr. O'Neill ASAP", `create "Email Dr. O'Neill ASAP"`}, {"create a task to call mom", `create "call mom"`},
		{"please put “pay rent” on my list", `create "pay rent"`}, {"new task: [P1] rotate tapes!!", `create "[P1] rotate tapes"`}, {"add a task", "create"},
		{"remind me at nine to call mom", `create "at nine to call mom" !`}, {"Remind me to buy groceries.", `create "buy groceries" !`}, {"don't let me forget to water the ferns", `create "water the ferns" !`},
		{`add a task "buy food" with the description "milk, eggs"`, `create "buy food" note "milk, eggs"`},
		{"show my tasks", "list"}, {"what's on my list?", "list"}, {"list", "list"}, {"SHOW ME EVERYTHING I HAVE TO DO", "list (pending)"}, {"which tasks have I finished?", "list (completed)"},
		{"what's left?", "list (pending)"}, {"show everything, open and completed", "list"}, {"show tasks about the house", "list [house]"},
		{"what's due today?", "list (pending) !"}, {"show tasks for tomorrow", "list !"}, {"how many tasks do I have?", "list"}, {"find dentist", "list [dentist]"}, {"tick number two", "complete #2"},
		{"show task 2", "list #2"}, {"what is the description of task 2?", "list #2"},
		{"complete task 2", "complete #2"}, {"mark the first one as done", "complete #1"}, {"tick off numbers 2 and 5 too", "complete #2 #5"}, {"#3 is done", "complete #3"}, {"done 2", "complete #2"},
		{"I've finished the report", "complete [report]"}, {"mark tasks 2 to 4 as done", "complete #2 #3 #4"}, {"the first two are finished", "complete #1 #2"}, {"check the dishes off", "complete [dishes]"},
		{"complete all but the first", "complete all but #1"}, {"mark everything as done", "complete all"}, {"complete", "complete"}, {"set task 2 to done", "complete #2"}, {"make task 2 done", "complete #2"},
		{"could you delete the third one for me?", "delete #3"}, {"delete all completed tasks", "delete all (completed)"}, {"delete the last two", "delete #-2 #-1"}, {"remove it", "delete it"},
		{"delete everything except the rent", "delete all but [rent]"}, {"delete both", "delete both"}, {"remove the garage one from my list", "delete [garage]"},
		{"rename task 2 to Call Bob at 3", `update #2 "Call Bob at 3"`}, {`change "Buy milk" to "Buy oat milk"`, `update [Buy milk] "Buy oat milk"`}, {"update the meeting task", "update [meeting]"}, {"rename call to Bob to call Al", "update [call to Bob to call Al]"},
		{"set the description of task 1 to: bring photos", `update #1 note "bring photos"`}, {`set its description to "x"`, `update it note "x"`}, {"add a note to task 2: bring photos", `update #2 note "bring photos"`},
		{"delete the note of task 2", `update #2 note ""`}, {"reopen task 1", "update #1 (pending)"}, {"mark pay rent as not done", "update [pay rent] (pending)"},
		{"undo that", "undo"}, {"help", "help"}, {"what can you do?", "help"},
	})
}

func TestPlainFormsInGerman(t *testing.T) {
	check(t, Context{}, [][2]string{
		{"Füge Milch hinzu", `create "Milch"`}, {"Fuege die Aufgabe „Milch kaufen“ hinzu", `create "Milch kaufen"`}, {"Neue Aufgabe: am 2. Mai Mama anrufen", `create "am 2. Mai Mama anrufen"`},
		{"Erinnere mich an den Einkauf", `create "den Einkauf" !`}, {"Schreib bitte „Reifen wechseln“ auf meine Liste", `create "Reifen wechseln"`}, {"Setz Brot auf die Liste", `create "Brot"`},
		{"Zeig mir meine Aufgaben", "list"}, {"Was ist noch offen?", "list (pending)"}, {"welche Aufgaben sind erledigt?", "list (completed)"}, {"was steht heute an?", "list (pending) !"},
		{"Erledige Aufgabe 2", "complete #2"}, {"hake die erste ab", "complete #1"}, {"Miete ist erledigt", "complete [Miete]"}, {"beide sind erledigt", "complete both"}, {"markiere die letzte als erledigt", "complete #-1"},
		{"Lösche die zweite Aufgabe", "delete #2"}, {"losche alles", "delete all"}, {"Könntest du die dritte bitte löschen?", "delete #3"}, {"streich die Miete von der Liste", "delete [Miete]"},
		{"Ändere „Milch“ in „Hafermilch“", `update [Milch] "Hafermilch"`}, {"benenne Aufgabe 2 in Maler anrufen um", `update #2 "Maler anrufen"`}, {"Benenne die zweite um", "update #2"},
		{"mach das rückgängig", "undo"}, {"Hilfe", "help"},
	})
}

func TestPlainFormsInPortuguese(t *testing.T) {
	check(t, Context{}, [][2]string{
		{"adiciona comprar selos", `create "comprar selos"`}, {"Nova tarefa: Entregar o IRS", `create "Entregar o IRS"`}, {"adiciona uma tarefa", "create"}, {"me lembra de buscar as crianças às 18h", `create "buscar as crianças às 18h" !`},
		{"lembra-me de comprar pão", `create "comprar pão" !`}, {"põe leite na minha lista", `create "leite"`},
		{"mostra as minhas tarefas", "list"}, {"o que falta?", "list (pending)"}, {"quais tarefas já concluí?", "list (completed)"},
		{"conclui a tarefa 2", "complete #2"}, {"a segunda já está feita", "complete #2"}, {"marca a primeira como feita", "complete #1"}, {"conclui a 2 e a 3", "complete #2 #3"},
		{"apaga a última", "delete #-1"}, {"exclua a tarefa do canalizador", "delete [canalizador]"}, {"apaga tudo", "delete all"},
		{"muda a tarefa 1 para Pagar a luz", `update #1 "Pagar a luz"`}, {"muda o nome da tarefa 1 para Pagar", `update #1 "Pagar"`}, {"reabre a tarefa 1", "update #1 (pending)"},
		{"desfaz isso", "undo"}, {"o que podes fazer?", "help"},
	})
}

func TestSeveralTasksOnlyWhereAColonOrTheWordTasksSaysSo(t *testing.T) {
	check(t, Context{}, [][2]string{
		{"add milk, eggs and bread", `create "milk, eggs and bread"`}, {"add buy salt and pepper", `create "buy salt and pepper"`}, {"add: show my tasks to the coach", `create "show my tasks to the coach"`},
		{"add tasks: milk, eggs and bread", `create "milk"; create "eggs"; create "bread"`}, {"add: milk, eggs", `create "milk"; create "eggs"`}, {"add two tasks: milk and eggs", `create "milk"; create "eggs"`},
		{"Please add these:\n- water the plants\n2. feed the cat", `create "water the plants"; create "feed the cat"`}, {"setz auf die Liste: Brot, Milch", `create "Brot"; create "Milch"`},
		{"adicione as tarefas: pão e leite", `create "pão"; create "leite"`},
	})
}

func TestSeveralCommandsInAMessage(t *testing.T) {
	check(t, Context{Previous: Complete}, [][2]string{
		{`Please add "Order pizza", rename the second task to "Call Al" and tick off the third.`, `create "Order pizza"; update #2 "Call Al"; complete #3`},
		{"Hi! Remind me to book a haircut. And complete 2, thanks!", `create "book a haircut" !; complete #2`}, {"mark 2 as done and show me what's still open", "complete #2; list (pending)"},
		{"conclui a segunda e apaga a terceira", "complete #2; delete #3"}, {"add check, delete and archive mails", `create "check, delete and archive mails"`},
		{"and the third too", "complete #3"}, {"und die letzte", "complete #-1"}, {"3", "chat"},
	})
	if r := Read("and the third", Context{Previous: Create}); r.Results[0].Intent != Chat {
		t.Errorf("after a new task: %s", said(r))
	}
}

func TestNothingIsGuessedIntoATaskOrAChange(t *testing.T) {
	for what, all := range map[string][]string{
		"no command": {"milk", "buy milk", "I need to renew my passport", "marque la tâche 2 comme terminée", "supprime la tâche deux", "yesterday was long", "I just called John", "the new task is done wrong", "die neue Aufgabe ist blöd",
			"add", "thanks!", "👋", "", " ", "add wine to task 2", "Januar war ein harter Monat", "remind me", "complte task 2", "add it", "add 2", "I want to finish task 2"},
		"a question": {"should I delete task 2?", "delete task 2?", "complete 1, right?", "is the plumber still open?", "how do I complete a task?", "what happens if I delete task 2?", "Soll ich Aufgabe 2 löschen?", "Hast du die zweite erledigt?",
			"devo apagar a 2?", "já paguei a renda?"},
		"a negation": {"don't delete task 2", "please do not mark anything as done", "never delete task 2", "I haven't finished task 2", "task 2 is not done", "complete nothing", "Lösch Aufgabe 2 nicht!", "Aufgabe 2 ist nicht erledigt", "Bitte keine Aufgaben löschen",
			"não apague a 2", "não apagues nada", "lösch bitte nichts", "a 2 não está feita"},
		"a condition": {"if it rains, complete task 2", "complete task 2 if I paid it", "when I am home, complete 1", "unless I call, delete 2", "wenn es regnet, erledige Aufgabe 2", "lösche 2, falls ich bezahlt habe", "se chover, conclui a 2"},
		"a quotation": {`"delete task 2"`, `My boss said "complete task 1. Complete task 2."`, "In the film he shouts 'complete task 1' at the robot", "he told me: complete task 2", "complete task 2, my wife said",
			"Mein Chef hat gesagt: „Erledige Aufgabe 1“", "o chefe disse “conclui tudo”"},
		"a correction": {"complete 2, no wait, 3", "add milk, sorry, I mean oat milk", "delete task 1... actually no, leave it", "conclui a 2, não, espera, a 3"},
	} {
		for _, words := range all {
			for _, x := range Read(words, Context{Previous: Complete}).Results {
				if x.Intent != Chat && x.Intent != List && x.Intent != Help {
					t.Errorf("%s: %q is read as %s", what, words, x.Intent.said(x.Entities))
				}
			}
		}
	}
}

func TestAnswersToWhatWasAsked(t *testing.T) {
	ask := func(kind string) Context {
		return Context{Open: &Open{Kind: kind, Intent: Delete}}
	}
	check(t, ask(KindConfirm), [][2]string{
		{"Yes, please!", "confirm"}, {"nein danke", "decline"}, {"no, the third", "delete #3"}, {"Nein, die dritte", "delete #3"}, {"não, a terceira", "delete #3"}, {"yes but not that one", "chat"},
		{"yes, the second", "chat"}, {"no, it", "decline"}, {"não, deixa estar", "decline"}, {"nein! das brauche ich noch", "decline"}, {"no wait yes", "chat"}, {"not that one", "decline"}, {"the second", "chat"}, {"add milk", `create "milk"`}, {"yes, complete task 2", "complete #2"},
	})
	check(t, ask(KindChoose), [][2]string{
		{"2", "choose #2"}, {"the first one, please", "choose #1"}, {"die zweite", "choose #2"}, {"both", "choose both"}, {"the one about the lease", "choose [lease]"}, {"Call Ben", "choose [Call Ben]"}, {"no", "decline"}, {"neither of them", "decline"},
		{"yes", "confirm"}, {"why?", "chat"}, {"delete task 3", "delete #3"}, {"show my tasks", "list"}, {"no, the second", "choose #2"},
	})
	check(t, ask(KindValue), [][2]string{
		{"Prepare the meeting at 3", `value "Prepare the meeting at 3"`}, {`"Buy milk"`, `value "Buy milk"`}, {"delete old photos", `value "delete old photos"`}, {"finish the report", `value "finish the report"`}, {"if only", `value "if only"`},
		{"never mind", "decline"}, {"complete task 2", "complete #2"}, {"show my tasks", "list"}, {"help", "help"},
	})
}

func TestTheLanguageIsOfTheFormElseOfTheWordsElseOfTheConversation(t *testing.T) {
	for _, c := range []struct{ words, before, want string }{
		{"remove the second one", "de", "en"}, {"lösche Aufgabe 2", "en", "de"}, {"apaga a tarefa 2", "en", "pt"}, {"conclui 2", "de", "pt"}, {"2", "de", "de"}, {"ok", "pt", "pt"}, {"42", "", "en"},
		{"wie ist das Wetter heute bei dir?", "en", "de"}, {"marque la tâche 2 comme terminée", "en", "fr"}, {"preciso de renovar o passaporte", "", "pt"}, {"tick numero two", "en", "en"}, {"hello", "", "en"}, {"Hallo", "", "de"}, {"bom dia", "", "pt"},
	} {
		if got := Read(c.words, Context{Language: c.before}).Language; got != c.want {
			t.Errorf("%q after %q: got %s, want %s", c.words, c.before, got, c.want)
		}
	}
}

// wellFormed checks what holds for every reading.
func wellFormed(t *testing.T, words string, c Context) {
	t.Helper()
	r := Read(words, c)
	if len(r.Results) == 0 || r.Language == "" || !reflect.DeepEqual(r, Read(words, c)) {
		t.Errorf("%q: %d results in %q, or not the same twice", words, len(r.Results), r.Language)
	}
	flat := strings.Join(strings.Fields(clean(words)), " ")
	for _, x := range r.Results {
		e := x.Entities
		if x.Confidence <= 0 || x.Confidence > 1 || x.Reasoning == "" || !utf8.ValidString(e.Title) || !strings.Contains(flat, strings.Join(strings.Fields(e.Title), " ")) {
			t.Errorf("%q: %s is not well formed, or its title not the person's", words, x.Intent.said(e))
		}
		for ref := e.Reference; ref != nil; ref = ref.Except {
			if ways := len(strings.Fields(strings.ReplaceAll(ref.said(), "#", ""))); ways == 0 {
				t.Errorf("%q: a reference to nothing", words)
			}
		}
		if x.Intent == Confirm && Consent(words, c.Language) != Yes {
			t.Errorf("%q confirms, and is no plain yes", words)
		}
	}
}

func contexts() []Context {
	return []Context{{}, {Previous: Delete, Language: "pt"}, {Open: &Open{Kind: KindConfirm, Intent: Delete}}, {Open: &Open{Kind: KindValue}}, {Open: &Open{Kind: KindChoose}}}
}

func TestAnyWordsAreReadAsSomething(t *testing.T) {
	long := strings.Repeat("add x, delete 2 and complete the report, ", 200)
	for _, words := range []string{"\xff", "add \xff\xfe", "\"", "„", strings.Repeat("\"", 99), "add: ", "add:\n-", "delete task 999999999999999999999", "complete 1-999999", "complete 0", long[:maxBytes], long + "yes", strings.Repeat("1, ", 2000)} {
		for _, c := range contexts() {
			wellFormed(t, words, c)
		}
	}
	if err := quick.Check(func(a, b string) bool {
		wellFormed(t, a+b, contexts()[1])
		return !t.Failed()
	}, nil); err != nil {
		t.Error(err)
	}
}

func FuzzRead(f *testing.F) {
	for _, words := range []string{"add milk, eggs and complete 2", "lösche die letzten zwei", "não, a 3", "“", "yes 👍🏽", "add these:\n- x\n2) y"} {
		f.Add(words, 0)
	}
	f.Fuzz(func(t *testing.T, words string, in int) {
		wellFormed(t, words, contexts()[(in%5+5)%5])
	})
}
