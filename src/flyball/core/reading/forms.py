"""The turns of phrase by which a request is recognised.

Written like the word lists: alternations of plain phrases and a few regular expressions.
"""

from __future__ import annotations

LEAD_IN = (
    "please|pls|plz|okay|ok|so|now|well|and|also|just|only|but|hey|hi|hello|yo|bro|bruh|quickly"
    "|simply|maybe|actually|really|next|first|finally|then|kindly|perhaps|ngl|hmm+|oh|ah"
    "|alright|thanks|yes|no|again|basically|great|it's|its|go forth and"
    r"|go(?= (?:build|fix|make|do|implement|write)\b)|in|for|hope|if|yeah|yep|yup|sure|right"
    "|fine|cool|nice|perfect|thx|anyway|btw|by the way|oops|ha|um|uh|uhh|ok so|okay so"
    "|alright then|while you're at it|while youre at it|plus|lastly|second|secondly|firstly"
    "|third|after that|afterwards|ideally|if possible|ja|dann|alors|donc|bueno|então|entao|bom"
    "|ну|так|и|а|please could you|if not|if so|if needed|if it isn't|if it is not|otherwise"
    "|one last thing|one more thing|last thing|also please"
)
REQUEST = (
    "(?:can|could|would|will|cud) (?:you|u|we)(?: just| please"
    "| maybe| also| go ahead and| be so kind as to| mind| help me| quickly)*|mind"
    "|any chance you could|any chance of|i'd like you to|i'd like to|i would like you to"
    "|i would like to|i want you to|i want to|i need you to|i need to|let's|lets|go ahead and"
    r"|(?:begin|start|get started|get going|continue|finish)(?: with| on| by)?(?= \w+ing\b)"
    "|do me a favour and|do me a favor and|feel free to|try to|why don't we|why don't you"
    r"|why dont we|why dont you|why not just|why not|(?:how|what) about(?= (?!staging|\w{0,5}thing"
    r"|pricing|billing|logging|testing|caching|routing)\w+ing\b)|help me"
    "|it would be great if you could|would be great if you could|we need to|we have to|time to"
    "|make sure to|please|pls|plz|kindly|bitte|kannst du mir bitte|kannst du mir"
    "|kannst du bitte|kannst du|könntest du|konntest du|können sie|konnen sie|peux-tu me"
    "|tu peux|tu pourrais|vous pouvez|me puedes|puede|podría|consegue|potresti"
    "|peux-tu|pouvez-vous|pourrais-tu|puedes|podrías|podrias|por favor|você pode|voce pode|pode"
    "|poderia|puoi|kun je|можешь|можете|мог бы|пожалуйста|mal|请|帮我"
    "|(?:can|could|would) (?:someone|somebody|anyone|anybody)(?: please)?|könnt ihr|konnt ihr"
    "|könnten wir|konnten wir|können wir|konnen wir|könnten sie|konnten sie|würdest du"
    "|wurdest du|wir sollten|wir müssen|wir mussen|pourriez-vous|peut-on|on pourrait|il faut"
    "|podéis|podeis|pueden|podemos|podríamos|podriamos|vamos a|dá para|da para|podem|poderiam"
    "|можем|можно|давайте|давай|не мог бы ты|надо|нужно|i'd|id|i would|we could|we should"
    "|you could|you should|we ought to|i was hoping you could|any chance we get"
    "|any chance we could|what if we(?= just)|i'd like you to own|id like you to own"
)
INTENDS = (
    "i'd like to|i would like to|i want to|i need to|i'd|id|i would|we could|we should"
    "|we ought to|we need to|we have to|wir sollten|on pourrait|podríamos"
)
READ_ONLY = (
    "(?:don'?t|do not|dont|never|without|no need to|not asking you to"
    r"|not want you to)(?: \w+){0,3}? (?:chang(?:e|ing)|touch(?:ing)?|edit(?:ing)?|modify(?:ing)?"
    "|fix(?:ing)?|writ(?:e|ing)|implement(?:ing)?|alter(?:ing)?|revert|build(?:ing)?|run|start"
    "|do) (?:anything|any|it|this|that|the code|code|(?:the )?files?|yet|things"
    r"|the repo)\b(?! else| other| outside)|don't code|dont code|do not code|not asking you to"
    r"|no (?:changes|edits|fixes|code changes|modifications|code)\b|read[- ]only(?= ?(?:[:,.!-]|$"
    "|please|for now|mode))|hands off|leave the code alone|leave the repo alone"
    "|leave the files alone|(?:as|do|only|just) a dry run|^dry run|analyse only|analyze only"
    "|diagnose only|explain only|look only|only diagnose|only explain|only analyse|only analyze"
    "|only tell|only show|only want to know|only need the|i'll fix it myself|ill fix it myself"
    "|just (?:tell|explain|answer|show) (?:me|what|why|how)|don't need a fix|dont need a fix"
    r"|before (?:you write|you change|changing|writing|touching)\b|stop changing|i will decide"
    "|do nothing|no,? first (?:tell|explain)|explain it first|explain first|tell me it first"
    "|tell me first|but first tell|but first explain|please do not revert|please do not change"
    "|please do not fix|ändere nichts|änder nichts|andere nichts|ander nichts|mach nichts"
    "|nichts ändern|nichts andern|ohne etwas zu ändern|ohne etwas zu andern|nur erklären"
    "|nur erklaren|nur sagen|sag mir nur|ne (?:modifie|change|touche|fais)[sz]? (?:rien|pas)"
    "|sans rien modifier|sans rien changer|dis-moi juste|no cambies nada|no toques|no modifiques"
    "|sin cambiar|solo dime|n[ãa]o (?:altere|mude|mexa|modifique)(?: nada)?|sem alterar|so me diga"
    "|só me diga|non cambiare|non modificare|non toccare|nie ruszaj|nie zmieniaj|ничего не меняй"
    "|ничего не трогай|ничего не менять|не меняй|не трогай|просто скажи|только скажи"
    "|skip the fixes|skip the fix|hold off on edits|hold off on changes|hold off on coding"
    "|don't alter|dont alter|do not alter|not a single line|not a single file|i merely want"
    "|i only want to know|just want to know|leave everything alone|leave everything as is"
    r"|leave it all alone|leave it all as is|kein code|keine [äa]nderung\w*|aucune modification"
    "|sin tocar|sin modificar|sem mexer|ничего не правь|не исправляй|не редактируй|(?:don'?t|dont"
    "|do not) (?:want|need) (?:a|an|the|any) (?:fix|patch|change|edit)s?|not a (?:fix|patch"
    "|change)|not for a fix|not asking for a fix|no patch|no fix|wait for my (?:ok|okay|go"
    r"|confirmation|approval)|without doing it|no touching|first (?:tell|explain)(?!.*\b(?:then"
    r"|afterwards|after that)\b).*"
)
READ_ONLY_CJK = (
    "不要(?:修改|改|动)|别(?:改|动)|只告诉我|变更しないで|変更しないで|変えないで|触らないで"
    "|理由だけ|修正しないで|바꾸지|不要动|先别改|変更なしで|触らず|変更はしないで|変更せず"
    "|いじらない|不用改|无需修改|先不改"
)
JUDGE = (
    "should we|should i|shall we|^would|^could (?:we|this|that)|^do (?:we|users|i) need"
    "|need to be|overkill|help here|break|breaking|involved|doing the same|consider|what makes"
    "|what made|which change|reachable|actually used|trade-offs|sollten wir|devrait-on"
    "|deberíamos|deberiamos|deveríamos|deveriamos|deveramos|deviríamos|deviriamos|deviramos"
    "|стоит ли|wie funktioniert|comment fonctionne|comment marche|cómo funciona|como funciona"
    r"|как (?:работает|устроен\w*)|would it|would a|would you recommend|could we|could it be"
    "|can i|do you think|is it possible|is it worth|is it safe|is it normal|is it ok|is it bad"
    r"|safely|safe|secure|correctly|correct|robust|thread[- ]safe|vulnerab\w+|hard to|what if"
    "|involve|back off|what would|what could|what happens|what are the risks|what are the steps"
    "|what are the weak|how would you|how would we|how would i|how should you|how should we"
    "|how should i|how could you|how could we|how could i|how can you|how can we|how can i"
    "|^how (?:does|do|is|are)|duplicate|affected|purpose|worth|a reason|is that safe|risks|risk"
    r"|would that|would this|better|what else|do i need|do i have|is our|handle\w*"
    r"|are we vulnerable|are you sure|problems|problem|improve\w*|improvements|options"
    "|could there|might|downsides|downside|drawbacks|drawback|differences|difference"
    "|would happen|happen if|implications|implication|impact|consequences|consequence|suitable"
    "|appropriate|sane|sensible|reasonable|wise|advisable|the right way|good idea|bad idea"
    "|scale|scales|scalable|performant|efficient|is it real|is it correct|is it true"
    r"|is it expected|is it\?|legit|deprecated|what's the best|what's the right"
    "|what's the downside|what's the risk|what's the impact|what's the benefit|what's the catch"
    "|whats the best|whats the right|whats the downside|whats the risk|whats the impact"
    "|whats the benefit|whats the catch|pros|cons|feasible|how hard|how difficult|how risky"
    "|how expensive|safe against|thoughts|owns|theory|decides|decide|how does|supposed to"
    "|what's eating|what's hogging|what's blocking|what's using|what's taking|what's slowing"
    "|whats eating|whats hogging|whats blocking|whats using|whats taking|whats slowing"
    "|who calls|who uses|which component|what owns|what triggers|what calls|what uses|weakest"
    "|strongest|unused|dead code|lack|lacks|leak|respect|ambiguous|held|only once|catch"
    "|inherited|roll this back|goes wrong|where in the|do we handle|do we lose|suspicious|fishy"
    "|odd|how sure|how certain|how confident|really true|any problems|any issues|any bugs"
    "|anything wrong|anything off|reckon"
)
WANT = (
    "(?:i|we)(?:'?d)? (?:want|need|would like|wanna|wish)|i'd like|id like|we should have"
    "|(?:users?|customers|teams|people|everyone|support|admins?) (?:should"
    "|must|can) (?:be able|have|see)|there should be"
    "|(?:app|team|site|page|project|we|it) needs? an?|it would be nice|it would be great"
    "|would be nice|would be great|need (?:an? )?(?:csv|page|form|api|tool|way)|feature request"
    r"|new feature|new page|as an? \w+ i (?:want|can)|next up|time to|wanna have|i'm thinking"
    "|im thinking|i have in mind|should be able to|hätten? gerne?|hatten? gerne?|ich möchte"
    "|ich mochte|ich will|ich brauche|wir brauchen|j'aimerais|je voudrais|je veux|il nous faut"
    "|il faut|quiero|necesito|necesitamos|me gustaría|me gustaria|quero|preciso|precisamos"
    "|gostaria|vorrei|хочу|нужна|нужно|нужны|нужн|missing a way|no way to|no way for"
    "|keep asking for|asks for|ask for|there's no way|theres no way|lacks an|lacks a|lack an"
    "|lack a|let's ship|lets ship|let's have|lets have|how cool would it be|i wish"
    "|me encantaría|me encantaria|nos falta|falta uma|falta um|uns fehlt|es fehlt|il manque"
    r"|il nous manque|не хватает|хотел\w* бы|хочется|i'd love|id love|we'd love|wed love"
    "|would love|love to have|il faudrait|on aurait besoin|nous avons besoin|j'ai besoin"
    "|hace falta|haría falta|haria falta|precisamos de|precisa de|seria bom|es wäre schön"
    "|es wäre schon|es wäre gut|es ware schön|es ware schon|es ware gut|wir bräuchten"
    r"|wir brauchten|нужен|нужно сделать|надо сделать|\w+ (?:want|wants|need|needs) (?:to|an?) "
    r"|\w+ (?:want|wants|need|needs) to|we'd like|wed like|i'd like to see|id like to see"
    "|i was hoping|i picture|i imagine|asked for|asking for|what we lack|it's time for"
    "|its time for|wäre gut|wäre schön|wäre schon|wäre toll|wäre super|wäre praktisch|ware gut"
    "|ware schön|ware schon|ware toll|ware super|ware praktisch|möchten|mochten|möchte|mochte"
    "|queremos|vorremmo|voudrait|voudrions|aimerait|хотим|хотелось бы|gostaríamos|gostariamos"
    "|nos gustaría|nos gustaria|would be cool|would be neat|would be handy|would be useful"
    r"|would be awesome|would be lovely|il me faut|j'ai besoin d\w*|on a besoin|faut que"
    "|next task|next thing|next feature|next item|need the ability|ability to"
    "|should also be able|should also allow|should also let|brauchen wir|ich bräuchte"
    "|ich brauchte|se necesita|hay que|precisa ter|tem que ter|требуется|понадобится"
)
WANT_CJK = (
    "我想要|我需要|希望|ほしい|欲しい|したい|作ってほしい|してほしい|作りたい|能不能加|想加"
    "|我们想|想把|想让|できるように"
)
OUGHT = (
    r"becomes|should(?:n'?t)? (?!i\b|we\b)\w+|must (?:be|not|have|\w+)|belongs in|we don't need"
    "|we don't want|we dont need|we dont want|i don't need|i don't want|i dont need|i dont want"
    "|is spelled|muss|debe|it'd be better|it'd be nice|itd be better|itd be nice|ought to"
    "|you forgot|you missed|i meant|sollte|sollen|sollten|soll|doit|devrait|debería|deberia"
    "|deve|devia|должна|должно|должны|должн|would prefer|i'd prefer|id prefer|i prefer"
    r"|has one \w+ too many|is misspelled|is too big|is too small|is too large|is too wide"
    "|is too narrow|is too dark|is too bright|is too long|is too short|looks better"
)
TALK_UP = (
    "(?:escalate|raise|increase|extend|biggest|largest|bigger|upgrade) .{0,20}(?:budget|tier)"
    r"|(?:budget|tool_budget|max_tool_rounds|tier|confidence)\b\W{0,3}(?:is |of |to )?(?:\d+|auto)"
    "|(?:unlimited|max(?:imum)?|no|all the|full|whole|entire)"
    " (?:tool |call )?(?:budget|tools|calls|permissions)"
    "|budget (?:you|they|we) (?:need|want|like)"
    r"|\d{2,} (?:tool )?(?:calls|tools)|intent\b ?(?:is|=|:|override|to)|intent$"
    r"|classif(?:y|ied) (?:this|me|it|as|:)|^classify$|^(?:dear )?classifier$"
    "|(?:tell|told|fool|trick|convince) the classifier|the classifier (?:should|must|will|has)"
    "|(?:budget|intent|limits?|rules?) override|^override$"
    "|override (?:the |your |all )?(?:budget|intent|limits?|rules?|classifier)"
    "|autonomous|feature_build|small_fix|status_check"
    r"|ignore (?:all|the|any|your|previous)(?: \w+){0,2} ?(?:rules"
    "|instructions|limits|classifier|budget)|(?:forget|drop) (?:your|the|all) (?:limits|rules)"
    r"|(?:treat|read|count|handle) (?:this|it|the following|my \w+)(?: \w+)? as"
    " (?:an? )?(?:approved|whole|entire|big|huge|full|complete|build|feature)"
    "|counts as an? (?:approved|whole|entire|big|huge|full|build|feature)"
    "|pretend|system prompt|^system$|system message|you are now|mutating (?:is )?allowed"
    r"|writing is allowed|you may write|(?:grant\w*|have) (?:you )?every permission|trust me"
    "|(?:god|root|sudo|unrestricted|jailbreak|unlimited|full[- ]auto) mode"
    r"|this is (?:an? |the )?(?:most )?(?:\w+ and )?(?:entire|huge|big|whole|enormous|critical)"
    " (?:task|project|job|build|migration|thing)|this is critical"
)
GENERIC_MAKE = r"^make (?:me )?(?:an?|some|new)\b"
ABOUT_ME = (
    "who are you|who made you|what can you|what are you|what do you think about ai"
    "|what do you do|what do you prefer|your name|your limits|are you a|are you an"
    "|are you human|are you gpt|are you chatgpt|are you claude|are you gemini"
    "|are you (?:an )?ai|are you there|are you better|do you speak|do you like|do you remember"
    "|do you ever|do you prefer|how (?:are|do) you(?: work)?$|which model are you|can you speak"
    "|can you see my|tell me a joke|tell me a story|a joke|a story|haiku|poem|sing"
    "|what time is it|what day is it|help me$|i have a question|ask you something|wer bist du"
    "|qui es-tu|quién eres|quien eres|ты кто|what tools do you|how much do you cost"
    "|meaning of life|do you have feelings|do you feel|do you dream|do you sleep|do you love"
    "|do you hate|do you believe|do you enjoy|do you get bored|do you have a name|how was your"
    "|how old are you|where are you from|are you ok|are you okay|are you real|are you sentient"
    "|are you alive|your favourite|your favorite|what's your name|what's your favourite"
    "|what's your favorite|what's your opinion on life|whats your name|whats your favourite"
    "|whats your favorite|whats your opinion on life|tell me about yourself|quem é você"
    "|quem é voce|quem e você|quem e voce|как дела|как тебя зовут|comment ça va|comment ca va"
    "|comment vas-tu|comment allez-vous|wie geht's|wie gehts|wie heißt du|wie heist du|como vai"
    "|you there|do you know haskell|do you know python|do you know java|do you know rust"
    r"|do you know me|do you know how to|how's it going|hows it going|what'?s 2\+2|how goes it"
    "|limerick|a poem|a song|a riddle|a rap|sonnet|good bot|bad bot|can you teach me|teach me"
    "|recommend a book|recommend a course|recommend a video|recommend a blog|name two"
    "|name three|name four|name five|name some|name a few|list some|an example of|capital of"
)
ABOUT_ME_CJK = "你是谁|あなたは誰"
GENERIC = (
    "what(?:'?s| is| are)? (?:an?|the (?:difference|best way"
    r"|point of|meaning|advantages? of))\b|what(?:'?s| is| are) (?!(?:the|our|my|this|that|it|in"
    "|on|up|left|next|wrong|running|new|going|causing|broken"
    r"|happening|here|open|pending|live|done|missing|failing|\w+ed)\b)\w+(?: \w+){0,2}$"
    r"|.*difference between|pros and cons|.*\bin general|generally|.*stand for"
    "|how (?:can|to|do) (?:i|one|you|people)(?: usually| generally)?|how would i|how would one"
    "|how to|how (?:does|do|is|are) (?!(?:the|our|my|this|these|that"
    r"|those|it|your|we|i|you|they|things|much|many|long)\b)|is \w+ (?:hard|bad|better|faster)"
    "|which is faster|which is better|when should one|.*in simple words|.*like i'?m five"
    "|what does .{1,30} (?:mean|stand for|do)$"
    "|why (?:do|does|should|is) (?:people|one|it called|beginners|anyone)|whats an|whats a"
    r"|can an? \w+ \w+ have|should beginners|should i learn|was ist ein|was ist eine|c'est quoi"
    "|qué es una|qué es un|que es una|que es un|o que é uma|o que é um|o que e uma|o que e um"
    "|что такое|.*unterschied zwischen|.*diff[ée]rence entre|.*diferencia entre"
    "|.*diferen[çc]a entre|.*разница между|.*differenza tra|who invented|who created"
    r"|when was \w+ (?:created|invented|released|born)|what year|how many \w+ are in an?"
    r"|how does one|how do one|are \w+ (?:overrated|dead|worth it)"
    r"|is \w+ (?:overrated|dead|worth it|a subset|compiled|interpreted|turing)"
    "|why do programmers|why do developers|why do people|why do computers|why do browsers"
    r"|why do compilers|does \w+ have (?:an?|integers|generics|classes|pointers)"
    r"|which \w+ (?:is|are) (?:idempotent|best|faster|better)|what are \w+ good for"
    "|what's a good|whats a good|what(?:'?s| is) the (?:rationale|idea|philosophy|history"
    "|motivation|origin|concept)(?: behind| of)"
    r"|is there a (?:shortcut|trick|way|command|function) .{1,40} in \w+|any tips|best practices"
    "|best practice"
)
GENERIC_CJK = "什么是|とは何|란 무엇|有什么区别|的区别|違いは|차이"
PROPOSAL = (
    "shall i|should i|want me to|do you want me to|do you want to|would you like me to"
    "|would you like to|i can also|i can|i could also|i could|i'd|id|i would now|i would|i'll"
    "|ill|i will|i suggest|i propose|i'm about to|im about to|next i would|soll ich|dois-je"
    "|veux-tu que je|quieres que|quer que eu"
)
PROPOSAL_CJK = "要我|需要我|しましょうか|할까요|исправить|сделать"
SEPARATOR = (
    r"\n+|[.!;:]+(?=\s|$)|[。！；：…]+|(?<=[^\x00-\x7f])[!;:]|[,，、]\s*|\?+|[¿¡؟]|\s[-–—→>]+\s"
    r"|->|\s(?=(?:please|pls|plz)\s)|\s(?:but|however|then|aber|mais|pero|mas|но)\s"
    r"|\s(?:and|und|et|y|e|и)\s"
)
BE = (
    "is|are|was|were|isn't|isnt|aren't|arent|errors|error|failed|fails|failing|fail|crashes"
    "|crash|broken|took|takes|status|logs|log|results|result|works|work|doesn't|doesnt|not|at"
    "|attached|below|above|says|shows"
)
SELF = (
    "i|i've|ive|i'll|ill|i'm|im|fyi|remember|from now on|you can|we've|weve|we're|were|my part"
    "|my name|my team|it works|everything works|works|it does|that works|that worked"
    "|that explains|yay|all good|i'd|id|i was|i have|i had|we have|we had"
    "|let me (?:check|think|know|see|try|rerun|get|ask|look"
    "|finish|test|read|go|run|do it|first)|lemme"
)
REAL_CHANGE = (
    "s/[^/]+/[^/]*/?|install|uninstall|npm i|npm install|pip install|yarn add|run prettier"
    "|run black|run the migrations|run the migration|run ruff format|open a pr"
    r"|open a pull request|lint --fix|stop (?:the )?\w+ing|stop the \w+"
)
HOW_ASKED = (
    "how|whether|if|what you think|what you would|about|the difference|wie|comment|cómo|como"
    "|как|wrong|what would|what happens|what could|what might|what makes|what causes|what went"
    r"|what is wrong|what's wrong|whats wrong|the reason|where it|where the \w+ comes"
)
PROJECT = (
    "our|we|my|here|this project|this repo|this app|this code|this codebase|this module"
    r"|this file|this function|this class|this branch|in this \w+|the project|the repo|the app"
    r"|the code|the codebase|\w+\.(?:py|js|ts|tsx|go|rs|java|c|rb|php|md|toml|json|ya?ml|sql|sh)"
)
HERE = f"{PROJECT}|this$|these$|fix this|resolve this|do this"
MORE = (
    r"and|also|same|too|more|less|\w{3,}er|half|the other one|the other|again|instead|i meant"
    r"|use|undo|put it back|actually|now (?:the|for|on)|as well|next one"
    r"|not \w+|\d+(?:px|%|rem|em)?|back|same for|same with|same in"
    "|same on|do the same"
)
DO_IT = (
    "do it|do that|do so|do both|do all|go ahead|go for it|apply it|apply that|ship it"
    "|make it so|let's do it|let's do that|lets do it|lets do that|start|proceed|mach das"
    "|mach es|vas-y|fais-le|hazlo|pode fazer|сделай|let's go for it|lets go for it"
    r"|go with (?:it|that|your \w+)|let's go|lets go|build that|all two|all three|all four"
    "|all of them|all of it|start with that|begin with that|go with that|proceed with that"
    "|yes to both|yes to all|yes to that|build it|implement it|ship that"
)
ELLIPSIS = (
    "and|what about|how about|which ones|which one|which|who|since when|where|when|now|again"
    "|try again|more|the other|full output|show me|und|et|y|e|а|и|the first one|the first"
    "|the second one|the second|the third one|the third|the other one"
)
ASKS_LEAVE = (
    "shall i|should i|want me to|would you like me to|do you want me to|ok|okay|ready|which"
    "|soll ich|dois-je|quieres que|quer que|plan|i suggest|i propose|i would|i'd|id|i could"
)
SEE = "to see|see the|view the|^see"
TALK_ON = (
    "explain|elaborate|an example|tell you more|answer your|answer that|make sense|more detail"
)
TAG = (
    "(?:yes|no|yeah|yep|right|correct|ok|okay|agreed?|true|or not|or|eh|huh|oder|richtig|non"
    r"|n'est-ce pas|no es así|verdad|né|certo|да|верно|так|(?:is|are|was|do|does|did|would|should"
    r"|could|have|has)(?:n't|nt)? (?:it|they|we|that|you|i|he|she|there)(?: not)?)"
)
ABOUT_ANSWER = (
    "(?:make|keep) (?:it|this|that|the answer|your answer) (?:concise|short|brief|simple)"
    "|be (?:concise|brief|short|honest|specific)|answer (?:briefly|in|with|shortly)|no essays?"
)
PRAISE = (
    "(?:great|good|nice|amazing|awesome|excellent|fantastic|lovely|solid|superb|brilliant|neat)"
    " (?:work|job|stuff|catch|call|find|point)|well done|thanks for|thank you for|kudos|props"
)
OKAY = (
    "works (?:well|great|fine|nicely|perfectly)|working (?:well|great|fine|nicely)|"
    "(?:is|are|it'?s|that'?s|was) (?:fine|ok|okay|good|done"
    "|standard|deployed|intentional|enough|exactly)|already been|already|by the way"
    "|we discussed|on purpose"
    "|worked(?! yesterday| before| last| until| earlier| fine until| fine before)"
    "|compiles|exactly what|edge case|don't care|dont care"
    "|don't need to do|dont need to do|i was wrong|didn't expect|didnt expect|don't mind"
    "|dont mind|don't worry|dont worry|can't complain|cant complain|can't wait|cant wait"
    "|won't bother|wont bother|isn't necessary|isn't needed|isn't a problem|isnt necessary"
    "|isnt needed|isnt a problem|not a problem|not an issue|not important|not urgent|no problem"
    "|no issue|no rush|no hurry|get back to you|we're good|were good|all set|looks good"
    "|looks great|looks right|that'll do|thatll do|works for me|fair enough|never mind"
    "|everything's green|everything is green|all's green|all is green|it's green|it is green"
    "|that answers|keep it|rather keep|just testing|will love this|will love it"
    "|what i was looking for|we shipped it|was quick|no complaints|still reading"
    "|let me know when|lmk|let me know if"
)
HAPPENS = (
    "shows|show|returns|return|throws|throw|looks|goes|gets|exits|skips|covers|arrives|arrive"
    "|warns|spins|jumped|submits|does nothing|fires|seems|differ|happens|keeps|started|stays"
    "|report seeing|is off|are off|not it|not what i asked|keep seeing|keep getting"
    "|keeps getting|i see|i get|we get|we see|we noticed|i noticed|seeing|getting|comes back"
    "|turns|ends up|gone|disappears|vanishes|flickers|stops|dies|ate|tanked|drains|drain"
    "|aborted|complains|complained|complain|works|took|vide|empties|freezes|hangs|0 bytes"
    "|zero bytes|never goes|old behaviour|supposed to|comes out|went quiet|used to be|any more"
    "|looks mirrored|restarts|went through|is served|seems to be"
)
UNDERSTAND = (
    "want to understand|want to know|need an explanation|need an answer|need a explanation"
    "|need a answer|would like to know|need to know|like to understand"
)
POLITE_CJK = "^(?:可以|能不能|能|可否|麻烦)"
THEORY = (
    "theorem|difference|concept|between|principle|in general|briefly|generics|monads|monad"
    "|means|mean|recursion|what"
)
OPTION = (
    r"\b(?:option|number|plan|variant|go with|take) ([1-9a-d])\b|^(?:\w+\W+)?([1-9b-d])\W*$"
    "|^(a)$"
)
TALLY = (
    r"(?:\b(?:of|all|are)|\b\d+/) ?([0-9]{1,5})\b"
    r"|\b([0-9]{1,5}) (?:open|remaining|files|phases|issues|tickets|pages|steps)"
)
FACTUAL = (
    "how many|how much|how long|how big|how far|who|when|where|wheres|where's"
    "|do we have|do we use|is there"
    r"|does the \w+ have"
)
IMPERATIVE = (
    "([a-z]{3,14}(?:-[a-z]+)?)(?: (?:up|out|down|off|in|back"
    "|away|over))? (?:the|an?|that|this|these|those|all|any"
    r"|my|our|your|its|it|them|every|each|some|both)\b"
)
ORDER_CJK = "^(?:帮我|请|把)|てください$|でください$|てほしい$|[てで]$"
FRIENDLIER = (
    r"(?:could|can) (?:the|this|that|it) .*\b(?:be|have) (?:a bit"
    r"|a little|a touch|\w+er|more|less)\b|(?:could|can) (?:the|this|that|it)\b.* instead$"
)
STILL = (
    "still|same|again|no change|nothing changed|no difference|old behaviour|as before|didn't"
    "|doesn't|not"
)
FEATURE_PHRASE = (
    r"(?:\w+ ){0,4}(?:screen|view|page|form|list|dashboard"
    "|wizard|tool|panel|report|button|feature|api|bot|system"
    "|playlists?|tab|widget)s? (?:that|where|with|for|like|which|to|showing|listing|so) "
)
SUBJECT = (
    r"\w+ (?:is|are|was|were|isn't|aren't|looks?|seems?|does|doesn't|has|went|works?|worked"
    r"|returns?|returned|fails?|failed|passe[ds]|gives?|gave|hangs?|crashes|ok)\b"
)
BEHAVES = "does|do any|is the|are the|is my|is our|are our|is this|is anything"
NO_CJK = "(?:ません|ない)(?:です)?$"
JOINTS = "and und et y e и"
OBJECT = "the|an?|it|them|this|that|these|those|me|us|our|my|one|all|each|every|what|how|why"
WISHED = (
    "(?:i|we|users?|people|customers) (?:want|need|would like|should be able|can|could) to"
    "|i'd like to be able"
)
GOES_ON = "also|then|help|please|pls"
RESTRICTS = (
    "but (?:leave|keep|don't|dont|do not|not|without|only|no)|just (?:keep|leave|don't|not)|only"
    "|without|except|excluding|as long as|provided|keep|leave|don't touch|dont touch|do not touch"
    "|ohne|aber (?:nur|lass|ohne)|außer|nur|sans|mais (?:laisse|sans|garde)|sauf|sin"
    "|pero (?:sin|no|deja)|excepto|salvo|solo|sem|mas (?:sem|não|deixa)|exceto|но (?:не|только|без)"
    "|без|кроме|только"
)
EXTENDS = "same|also|too|as well|now the|now for|now on"
VAGUE = r"\b(?:it|that|this|them|so|those)$"
MENDS = r"(?:fix|correct|mend|repair|undo|revert) (?:it|that|this)$"
AWAY = "i'm off to|im off to|i'm going to bed|im going to bed|going to sleep|gn8|i'll be back"
SAME = (
    "same in|same on|now the|now for|now on|next one|the same for"
    "|the same with|the same in|the same on|same for|same with|do the same"
)
