//nolint:misspell // word lists hold both spellings and other languages
package classify

import "strings"

// Word lists. They are read once and never changed. In lists of evidence (evidence.go) an underscore joins the words of
// a phrase and a star ends a stem; here entries are plain words.

func set(lists ...string) map[string]bool {
	out := map[string]bool{}
	for _, list := range lists {
		for _, w := range strings.Fields(list) {
			out[w] = true
		}
	}
	return out
}

// dict reads "key=value" entries separated by spaces; an underscore in a value is a space.
func dict(list string) map[string]string {
	out := map[string]string{}
	for _, entry := range strings.Fields(list) {
		key, value, _ := strings.Cut(entry, "=")
		out[key] = strings.ReplaceAll(value, "_", " ")
	}
	return out
}

// stopWords carry grammar, not subject matter.
var stopWords = set(`
	a an the this that these those i me my mine myself you your yours he him his she her hers it its we us our ours they them their
	be is am are was were been being do does did done doing have has had having can could will would shall should may might must
	what which who whom whose where when why how and or but nor not no so if then than as at by for from in into of off on onto out
	over to too under until up upon with within without about above after again against all also any because before below between
	both down during each else ever every few further here just like more most much only other own same some such there through very
	well while via per yet still please let get got one ones thing things lot really actually maybe quite`)

var whWords = set("what which who whom whose where when why how")

var auxiliaries = set("is are am was were do does did can could will would should shall may might has have had must")

var determiners = set("the a an this that these those my our your their his her its all every each any some another both")

var deixis = set("we our us ours ourselves")

// openerWords may stand before a request without being one.
var openerWords = set(`
	thanks thank so much very ok okay kay k cool great perfect nice good super awesome excellent hi hello hey hiya yo morning
	afternoon evening there yes yeah yep yup no nope sure right alright well now then also and but so oh ah um hmm hm please sorry
	dumb quick stupid silly question just first next finally lovely interesting folks guys team again maybe anyway fine`)

// courtesyWords make up remarks that ask for nothing.
var courtesyWords = set(`
	thanks thank thankyou cheers ta ok okay kay k okey yes yeah yep yup ya no nah nope sure right alright cool great perfect nice
	good fine super awesome excellent brilliant fantastic wonderful amazing lovely sweet neat wow lol haha hahaha hehe hi hello hey
	hiya yo bye goodbye ciao cya hmm hm hmmm mhm mm ah aah aaah oh ooh uh um understood agreed agree exactly indeed absolutely
	definitely totally gotcha ack acknowledged roger copy noted done ping welcome sorry oops interesting impressive helpful
	appreciate appreciated morning afternoon evening night day sounds makes sense see got continue proceed ahead go stop wait hold
	moment minute second yay kudos bravo congrats congratulations correct true wrong incorrect false worries problem much lot very
	so well all now explanation answer help helped helps mean work job stuff point best one aha merci pardon kidding supposed next back
	something anything everything else know talk ton bunch mate dude bro buddy tomorrow later soon`)

// greetings and thanks are said to somebody, whatever follows.
var greetings = set("hi hello hey hiya yo bye goodbye ciao cya cheers thanks thank thankyou ta")

// writeVerbs ask for a change wherever they head a clause.
var writeVerbs = set(`
	create add append insert delete remove rename implement refactor modify edit rewrite overwrite replace draft fix correct update
	write remember record erase discard upload install configure migrate extract deduplicate reorganize reorganise restructure
	reformat simplify optimize optimise strip trim inline squash memoize lowercase uppercase annotate consolidate combine introduce
	mention include exclude substitute swap toggle invert expose hide mock stub pad align indent embed inject debounce standardize
	standardise normalize normalise categorize categorise relabel highlight unpin notify email send forward submit reject unassign
	decline finish complete uncheck populate seed initialize initialise bootstrap connect disconnect unpublish ship tweak polish
	tidy prune purge wipe empty nuke unset restore recreate regenerate rebuild retitle reorder renumber resize relocate transfer
	transform reduce shorten lengthen double halve raise lower lock unlock allow forbid block protect secure harden encrypt sanitize
	sanitise shrink prefix suffix duplicate commit revert undo deprecate prepend memorize memorise patch scaffold upgrade downgrade
	increase decrease enable disable adjust amend extend improve revise reword ensure organize organise rearrange execute optimise
	restart deploy repair resolve send archive publish generate add rollback`)

// nounVerbs are verbs that are nouns as often: they ask for a change if an object follows.
var nounVerbs = set(`
	note log save store make set put tag move copy merge split mark post push file open start turn bring document bump change keep
	release convert capture link jot take schedule clean build test wrap cache reset register assign close attach import export
	translate pin drop clear track cancel book compile turn redo attach sync fill flag port collect new todo reply prepare plan run
	stop comment roll switch sort group format trigger`)

// weakNounVerbs need a note, a thread or a name of something written as their object.
var weakNounVerbs = set(`
	make take put open start turn bring test wrap cache translate release export collect plan book track file keep set drop prepare
	link`)

// readVerbs ask to be shown or told something.
var readVerbs = set(`
	show list find explain say repeat expand describe tell give summarize summarise compare search grep check walk look outline
	enumerate trace locate display print read analyze analyse review help clarify elaborate identify recommend suggest define
	discuss illustrate debug investigate inspect count google browse recap remind point guide teach grab fetch get pull lookup
	research summary examine see understand`)

// noteNouns are what write operations of the Oracle are about.
var noteNouns = set(`
	note notes page pages doc docs document documents documentation readme changelog thread threads vault entry entries journal
	diary wiki adr adrs section sections paragraph glossary handbook guide faq list todo todos task tasks checklist summary minutes
	log folder file files tag tags heading issue ticket reminder runbook roadmap spec proposal branch item memo agenda backlog board
	decision decisions idea draft template bullet comment caption table_of_contents version dictionary plan`)

var docFiles = set("md markdown txt adoc rst org pdf docx")

var codeFiles = set(`
	go rs py js jsx ts tsx mjs c h cc cpp hpp cs java kt kts swift rb php scala ex exs erl hs ml lua sh bash ps1 sql html css scss
	vue svelte yaml yml json toml ini xml proto gradle tf lock mod sum cfg conf env glsl frag vert wgsl gd dart r jl zig nim asm s
	ipynb cmake mk`)

var abbreviations = set("e.g i.e a.m p.m u.s u.k etc vs z.b d.h u.a")

// products are names of the outside world that look like identifiers or ordinary words.
var products = set(`
	typescript javascript python golang rust java kotlin swift ruby php perl scala haskell ocaml elixir erlang clojure julia dart
	zig cobol fortran node.js nodejs deno bun react vue.js vue angular svelte next.js nextjs nuxt remix solid.js jquery tailwind
	bootstrap vite webpack django flask fastapi rails laravel spring express express.js nestjs asp.net .net dotnet htmx graphql grpc
	openapi postgres postgresql mysql mariadb sqlite mongodb redis memcached cassandra dynamodb elasticsearch opensearch clickhouse
	duckdb snowflake bigquery databricks redshift kafka rabbitmq nats pulsar airflow prefect dagster spark flink dbt pandas numpy
	polars pytorch tensorflow keras docker podman kubernetes k8s helm terraform ansible jenkins github gitlab bitbucket nginx apache
	envoy istio prometheus grafana datadog aws azure gcp cloudflare vercel netlify heroku linux ubuntu debian fedora alpine macos
	windows ios ipados android iphone ipad macbook chrome firefox safari edge electron flutter unity unreal godot blender opengl
	vulkan webgpu webgl webassembly wasm llvm gcc clang cmake openai chatgpt gpt claude anthropic gemini llama mistral ollama
	huggingface nvidia amd intel apple google microsoft meta amazon tesla netflix spotify steam youtube twitter reddit linkedin
	facebook instagram whatsapp telegram slack discord notion jira linear confluence figma stripe paypal twilio auth0 okta supabase
	firebase vim neovim emacs vscode intellij git npm pnpm yarn pip poetry cargo maven gradle arduino esp32 esp8266 stm32 raspberry
	lorawan bluetooth zigbee usb openssl openssh log4j jwt oauth oauth2 tls ssl http https tcp udp dns ethereum bitcoin crypto ebay
	uber airbnb salesforce sap oracle ibm tauri playwright cypress selenium jest pytest junit homebrew c++ c# f# devops saas paas
	nosql latex markdown asciidoc parquet avro protobuf json yaml celeste minecraft fortnite starship spacex bash zsh powershell css
	html sql jetbrains bazel pycharm webstorm xcode postman insomnia swagger sentry splunk newrelic pagerduty opsgenie hashicorp
	consul nomad packer langchain llamaindex copilot cursor midjourney perplexity deepseek qwen cockroachdb planetscale neo4j
	influxdb timescaledb mongoose prisma hibernate sqlalchemy celery sidekiq numba scipy matplotlib jupyter anaconda colab excel
	powerpoint outlook gmail sharepoint onedrive dropbox zoom shopify wordpress wix squarespace magento drupal netsuite hubspot
	zendesk intercom mailchimp sendgrid algolia hetzner digitalocean linode samsung sony nintendo playstation xbox pixel huawei
	xiaomi qualcomm risc cuda mongo psql curl wget grep sed awk tmux ffmpeg imagemagick moment.js lodash axios d3.js three.js
	ember.js backbone.js storybook eslint prettier babel rollup esbuild turborepo lerna nx gpt-4 gpt-4o macports snap flatpak
	systemd selinux iptables wireguard tailscale zookeeper etcd minio ceph hadoop hive presto trino superset metabase tableau looker
	powerbi kibana logstash loki tempo jaeger opentelemetry skype viber tiktok snapchat pinterest tinder wikipedia ikea walmart
	boeing airbus nasa webhooks websocket webrtc pdf tsv csv`)

// notEvidence are products so common inside projects that their name alone says nothing about the outside.
var notEvidence = set(`
	jwt oauth oauth2 tls ssl http https tcp udp dns pdf tsv csv json yaml markdown sql html css websocket webhooks spring express
	solid.js linear oracle edge spark sap slack protobuf parquet steam meta unity bun`)

// softwareNouns are parts of programs. "the <softwareNoun>" is a part of the project at hand.
var softwareNouns = set(`
	function method struct enum interface handler middleware endpoint controller subroutine callback module package helper wrapper
	variable constant parser lexer tokenizer regex mutex goroutine coroutine class classes instance field parameter argument
	constructor decorator hook reducer service server client gateway proxy component test tests config configuration cache queue
	worker job scheduler cron buffer lock driver firmware shader renderer engine pipeline repository adapter dao orm query migration
	schema table column index trigger widget view viewmodel activity fragment screen dialog form button page router route serializer
	deserializer validator formatter loader importer exporter generator builder factory singleton observer listener emitter
	dispatcher consumer producer subscriber publisher broker registry plugin extension sdk api cli binary executable daemon thread
	pool connection socket session cookie token header payload request response stream channel event signal interrupt isr timer
	watchdog bootloader kernel compiler linker optimizer interpreter allocator runtime vm stack heap pointer iterator generics
	template macro annotation directive script dag operator task sprite entity system ecs collider mesh texture camera animation
	physics ai pathfinding inventory store storage database db backend frontend ui app application code codebase source repo logger
	logging limiter throttle retry backoff hook webhook login signup auth authentication authorization checkout upload download
	import export search index indexer crawler scraper planner executor editor viewer state machine flow lifecycle transaction
	cursor batch lease flag toggle uart dma gpio sensor job graph node tree ast ir opcode bytecode pass backtrace dashboard menu
	screen map world level enemy player boss spawner save generator writer model property attribute namespace trait mixin delegate
	lambda closure future array string hash checksum crc byte directory port layout stylesheet selector modal popup tooltip navbar
	sidebar toolbar footer dropdown carousel checkbox textbox scrollbar canvas viewport tile particle raycast hitbox npc quest
	cutscene joystick mixer loop tick timestep keybinding syscall register bus packet hal rtos build bundle artifact etl dataset
	dataframe sink partition offset topic snapshot container pod manifest ingress blackboard leaf subtree decorator prompt agent
	tool embedding websocket reconnect subscription permission role tenant worker coordinator orchestrator supervisor gateway facade
	resolver mapper converter reader watcher poller sender receiver mailer notifier notification notifications template cart order
	orders payment billing invoice journal command output input option warning`)

// featureNouns name behaviour that most programs have: asked without an article they are still about the program.
var featureNouns = set(`
	authentication authorization caching pagination logging routing indexing login logout signup validation retry retries sharding
	replication serialization deserialization parsing rendering streaming batching queueing scheduling throttling search session
	dependency injection configuration deployment persistence synchronization sync encryption migration migrations notifications
	checkout upload uploads export import rate limiting tracing monitoring testing ranking matchmaking pathfinding collision
	spawning autosave undo redo localization telemetry onboarding billing shutdown startup initialization cleanup`)

// answerForms are shapes that a reply can be given in: asking for one is asking about the reply.
var answerForms = set(`
	shorter longer simpler simple brief briefly detail details table bullets bullet words sentence sentences paragraph english
	german portuguese spanish french five again differently clearer plain steps example examples version summary short nutshell
	concise list tldr bit down one two three four ten lines line simply clearly slowly beginner kid`)

var objectPronouns = set("it that this these those them me")

// shortForms are contractions and chat spellings with an irregular long form.
var shortForms = map[string][]string{
	"can't": {"can", "not"}, "won't": {"will", "not"}, "cant": {"can", "not"}, "wont": {"will", "not"}, "dont": {"do", "not"},
	"doesnt": {"does", "not"}, "didnt": {"did", "not"}, "isnt": {"is", "not"}, "arent": {"are", "not"}, "wasnt": {"was", "not"},
	"couldnt": {"could", "not"}, "whats": {"what", "is"}, "wheres": {"where", "is"}, "whos": {"who", "is"}, "hows": {"how", "is"},
	"whens": {"when", "is"}, "whys": {"why", "is"}, "thats": {"that", "is"}, "theres": {"there", "is"}, "im": {"i", "am"}, "ive": {"i", "have"},
	"let's": {"let", "us"}, "lets": {"let", "us"}, "gimme": {"give", "me"}, "lemme": {"let", "me"}, "wanna": {"want", "to"},
	"gonna": {"going", "to"}, "pls": {"please"}, "plz": {"please"}, "thx": {"thanks"}, "ty": {"thanks"}, "tnx": {"thanks"}, "thanx": {"thanks"},
	"u": {"you"}, "ur": {"your"}, "wat": {"what"}, "wut": {"what"}, "cuz": {"because"}, "thankyou": {"thank", "you"}, "youuu": {"you"},
	"youre": {"you", "are"}, "abt": {"about"}, "wherre": {"where"}, "tmrw": {"tomorrow"}, "wheather": {"weather"}, "diffrence": {"difference"},
}

var clitics = map[string]string{"s": "is", "re": "are", "ve": "have", "d": "would", "ll": "will", "m": "am", "t": "not"}

// takesIs are the words whose 's is a verb rather than a possessive.
var takesIs = set("what where who how when why that it there here which he she this")

// sharedWords are in a gloss and mean something else in English.
var sharedWords = set(`
	time favor era data note notes dia boa super prima toll fine klar tag man war hat den des dem also gut grund base capital teste
	mode ins os um com ser nos mas bom erst sage fasse nota bug test code system
	leg falls start etapa se so novo halt`)

// glosses translate the words that matter in German and Portuguese questions, so that one set of rules serves.
var glosses = []map[string]string{german, portuguese}

var german = dict(`
	wars=was_it was=what wer=who wo=where wann=when warum=why wieso=why weshalb=why wie=how welche=which welcher=which welches=which
	welchen=which wessen=whose ist=is sind=are war=was hat=has haben=have wird=will kann=can kannst=can_you
	konntest=could_you wurde=would wurdest=would_you der=the die=the das=the den=the dem=the des=the ein=a eine=a einen=a einem=a
	einer=a im=in_the zum=to_the zur=to_the am=on_the ins=in_the und=and oder=or aber=but nicht=not kein=not keine=not mit=with
	von=from vom=from_the fur=for uber=about auf=on aus=from bei=at nach=after wir=we uns=us unser=our unsere=our unseren=our
	unserem=our unserer=our ich=i du=you mir=me mich=me dir=you dich=you sie=they es=it er=he man=one bitte=please danke=thanks
	dank=thanks vielen=much hallo=hello moin=hello servus=hello guten=good morgen=tomorrow tag=day abend=evening tschuss=bye ja=yes
	nein=no genau=exactly klar=sure alles=all gut=good verstanden=understood hilft=helps super=super prima=great toll=great
	passt=fine entschieden=decided beschlossen=decided entscheidung=decision entscheidungen=decisions vereinbart=agreed
	besprochen=discussed architektur=architecture richtlinie=guideline richtlinien=guidelines notiz=note notizen=notes
	besprechung=meeting protokoll=minutes anforderung=requirement anforderungen=requirements dokumentation=documentation
	steht=stands grund=reason nutzen=use verwenden=use geplant=planned funktion=function klasse=class methode=method datei=file
	schnittstelle=interface fehler=error konfiguration=configuration authentifizierung=authentication datenbank=database
	quelltext=code implementiert=implemented definiert=defined geladen=loaded aufgerufen=called ruft=calls geleert=cleared
	berechnet=computed funktioniert=works schlagt=fails fehl=fails gesetzt=set gespeichert=stored geworfen=thrown verwendet=used
	wetter=weather neueste=latest neuesten=latest neuste=latest aktuelle=current aktuell=current kostet=costs preis=price
	nachrichten=news heute=today gestern=yesterday wochenende=weekend wahl=election gewonnen=won regnet=rain hauptstadt=capital
	unterschied=difference zwischen=between erstelle=create erstell=create erstellen=create fuge=add hinzufugen=add hinzu=in
	aktualisiere=update aktualisieren=update losche=delete loschen=delete speichere=save speichern=save merke=remember merk=remember
	schreib=write schreibe=write schreiben=write andere=change andern=change entferne=remove entfernen=remove notiere=note
	korrigiere=fix behebe=fix ersetze=replace benenne=rename trage=add erganze=add erklare=explain erklar=explain zeig=show
	zeige=show finde=find suche=search sag=tell sagen=say nochmal=again kurzer=shorter einfacher=simpler fasse=summarize zusammen=up
	bedeutet=mean meinst=mean heisst=mean
	wollte=wanted wollten=wanted mochte=want mochten=want schlussel=key lieferant=supplier lieferanten=suppliers ergab=did_show
	macht=does schalter=switch kummert=takes_care_of fertig=done seit=since bis=until oft=often versucht=tried werden=are
	halte=record halt=record schreibt=writes liest=reads angebot=proposal speichern=save ausserhalb=outside
	darf=may durfen=may durfte=may muss=must mussen=must musste=must soll=should sollen=should sollte=should sollten=should
	wenn=if falls=if woran=how wodurch=why wozu=why woher=where wohin=where diese=this dieser=this dieses=this
	diesen=this diesem=this mein=my meine=my meinen=my nur=only ohne=without mehrere=several einzelne=single einzelnen=single
	einzelner=single jemand=someone nachste=next nachsten=next woche=week passiert=happens geschieht=happens
	lege=create leg=create anlegen=create angelegt=created befehl=command befehle=commands schritt=step schritte=steps
	warnung=warning meldung=message fehlermeldung=error_message zeile=line zeilen=lines tabelle=table tabellen=tables
	spalte=column spalten=columns ordner=folder verzeichnis=folder sperre=lock zeitlimit=timeout einstellung=setting
	einstellungen=settings eintrag=entry eintrage=entries liste=list punkt=item aufgabe=task aufgaben=tasks leer=empty
	existiert=exists wartet=wait gewartet=wait warten=wait lauft=runs laufen=run startet=starts starten=start stoppen=stop
	bricht=fails abgebrochen=cancelled festgelegt=defined eingestellt=set gelesen=read geschrieben=written gepruft=checked
	pruft=checks erkennt=detects behandelt=handled erledigt=done uberspringen=skip ignorieren=ignore ausschliessen=exclude
	abschalten=disable ausschalten=disable einschalten=enable einstellen=configure schalte=switch
	freigeben=approve freigibt=approves freigabe=approval zustimmen=approve genehmigen=approve genehmigt=approves
	zustandig=responsible verantwortlich=responsible ansprechpartner=contact_person ausgemacht=agreed abgemacht=agreed
	abgesprochen=agreed geeinigt=agreed ablauf=process vorgehen=process frist=deadline vertrag=contract kunde=customer
	kunden=customers umzug=move umziehen=move`)

var portuguese = dict(`
	que=what qual=which quais=which quem=who onde=where quando=when porque=why como=how quanto=how_much quantos=how_many e=is
	sao=are foi=was esta=is estao=are tem=has temos=we_have pode=can_you poderia=could_you podes=can_you fica=is o=the a=the os=the
	as=the um=a uma=a do=of_the da=of_the dos=of_the das=of_the de=of no=in_the na=in_the nos=in_the nas=in_the ao=to_the em=in
	para=for por=for com=with sem=without sobre=about mais=more vez=time nao=not sim=yes ou=or mas=but isso=that isto=this esse=this
	essa=this nosso=our nossa=our nossos=our nossas=our nos=us time=team equipe=team obrigado=thanks obrigada=thanks valeu=thanks
	ola=hello oi=hello bom=good boa=good dia=day tarde=afternoon noite=night tudo=all bem=well tchau=bye entendi=understood
	entendido=understood certo=right claro=sure perfeito=perfect otimo=great ajudou=helped bastante=much muito=much era=was
	decidimos=we_decided decidido=decided decisao=decision decisoes=decisions escolhemos=we_chose combinamos=we_agreed usamos=we_use
	reuniao=meeting arquitetura=architecture diretrizes=guidelines diretriz=guideline nota=note notas=notes requisitos=requirements
	documentacao=documentation politica=policy funcao=function classe=class metodo=method arquivo=file codigo=code erro=error
	banco=database dados=data implementa=implements valida=validates funciona=works autenticacao=authentication definido=defined
	definida=defined chama=calls configuracao=configuration implementado=implemented teste=test retorna=returns falha=fails
	carrega=loads carregado=loaded tempo=weather previsao=forecast clima=weather recente=recent ultima=latest ultimo=latest
	versao=version preco=price custa=costs hoje=today ontem=yesterday amanha=tomorrow ganhou=won jogo=match noticias=news
	atual=current capital=capital diferenca=difference entre=between crie=create cria=create criar=create adicione=add adiciona=add
	adicionar=add atualize=update atualiza=update atualizar=update apague=delete apagar=delete remova=remove remover=remove
	salve=save salva=save salvar=save anote=write anota=write escreva=write escreve=write lembre=remember lembra=remember
	significa=mean aviso=warning quantas=how_many vezes=times ele=it tenta=tries novo=new cuida=takes_care_of coloca=put coloque=put
	lancamento=release proximo=next proxima=next vai=will ser=be pedido=request
	faco=do_i posso=can_i podemos=can_we deve=must devem=must se=if so=only acontece=happens ignorar=ignore pular=skip
	desligar=disable desligo=disable ligar=enable ligo=enable ativar=enable desativar=disable configurar=configure mudar=change
	alterar=change usar=use rodar=run executar=run iniciar=start parar=stop existe=exists existir=exists vazio=empty
	limite=limit comando=command opcao=option opcoes=options etapa=step linha=line tabela=table pasta=folder aprovar=approve
	aprova=approves autorizar=approve responsavel=responsible combinado=agreed acordado=agreed prazo=deadline cliente=customer
	clientes=customers tarefa=task lista=list ate=until
	mude=change altere=change corrija=fix renomeie=rename guarde=store registre=record explique=explain explica=explain mostre=show
	mostra=show encontre=find procure=search liste=list resuma=summarize favor=please passos=steps paragrafo=paragraph`)

// projectNouns, after a pointer, mean the program at hand; undertakings mean the project as a thing of people.
var (
	pointers     = set("this my the")
	projectNouns = set("repo repository codebase code app application service system branch module file class function project")
	undertakings = set("project team company product organisation organization department feature initiative")
	choiceVerbs  = set(`
	use using used choose chose pick picked drop dropped go went decide adopt adopted switch switched move moved not keep prefer
	have need want`)
	speechVerbs = set(`
	say said recommend recommended propose proposed suggest suggested request requested ask asked report reported argue mention
	mentioned tell told want demand answer write written show complain prefer promise offer object insist find conclude`)
)

// impersonal words take an article without meaning a thing that both speakers know.
var (
	impersonal   = set("difference differences same only first last next other way right world current documentation")
	superlatives = set(`
	best top fastest cheapest easiest recommended biggest largest smallest tallest oldest greatest richest safest worst`)
	productParts  = set("api apis kernel sdk cli runtime vm gpu cpu event events store plan")
	namesakes     = set("node go next spring express swift react")
	comparatives  = set("better faster slower cheaper safer easier harder bigger smaller larger stronger older newer lighter healthier more less")
	libraryWords  = set("library framework crate gem sdk")
	settings      = set("in with on using under")
	productPapers = set(`
	docs documentation manual reference guidelines guideline policy changelog notes roadmap spec specification requirements handbook
	readme`)
)

// neverNouns are verbs that do not stand before a noun as its attribute; compoundTails are nouns that verbs do stand before.
var (
	neverNouns    = set("add append implement refactor modify overwrite deduplicate ensure introduce")
	nounTails     = set("of for vs versus or")
	attributes    = set("status title name date version value description owner text content contents")
	compoundTails = set("implementation logic flow code handling command path definition conflict")
	particles     = set("up out off on back over down in")
	onlyPhrasal   = set("turn switch shut tear take")
	inchoatives   = set("start stop begin keep")
	writesDown    = set("write note put jot take get")
)

// emptyVerbs are verbs that any question may have.
var emptyVerbs = set(`
	work works working happen happens mean means know need want say says like going use uses used using thanks hello okay ok`)

// retellVerbs ask for the reply in another form, or for a reply at all.
var retellVerbs = set(`
	explain say repeat expand tell give show clarify summarize summarise describe elaborate help define discuss illustrate simplify
	shorten rephrase reword translate condense recap`)

func joinWords(words []string) string { return strings.Join(words, " ") }

// programVerbs are what programs do. Their plain forms are as often nouns, so only the inflected ones are evidence by themselves.
var programVerbs = set(`
	implement declare instantiate call invoke parse throw raise return handle compute calculate initialise initialize inherit
	override compile crash hang flicker fail serialize serialise deserialize deserialise validate escape sanitize sanitise hash
	encrypt decrypt cache flush buffer allocate lock unlock spawn render persist dispatch emit wire register configure import export
	inject mutate iterate loop sort poll subscribe publish retry log store load open close resolve convert trigger map route
	tokenize tokenise optimize optimise inline decode encode deduplicate fetch swallow expire process queue batch index scan
	authenticate authorise authorize connect listen bind produce consume check populate increment decrement hydrate mount unmount
	memoize paginate throttle debounce interpolate concatenate normalize normalise aggregate partition shard replicate synchronise
	synchronize rotate evict invalidate enforce propagate schedule enqueue dequeue merge filter refresh expose sign verify stream
	generate attach detach bootstrap clear lower weight compress decompress sample resample interleave multiplex traverse recurse
	backtrack unify typecheck lint minify bundle transpile execute evaluate assign intercept proxy redirect forward broadcast notify
	acknowledge commit migrate seed restore snapshot archive collide animate tick spin cull rasterise rasterize sync lease crawl
	embed chunk rank score match`)
