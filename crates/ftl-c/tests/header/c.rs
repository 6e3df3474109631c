//! C's declarations of what Rust declares for it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use syn::{Attribute, Expr, Field, FnArg, GenericArgument, Item, Lit, Meta, PathArguments, Type};
use syn::{ItemConst, ItemEnum, ItemFn, ItemMod, ItemStruct, ReturnType, Visibility};

/// Columns of a comment.
const COLUMNS: usize = 100;

/// The header of a crate: what these of its files declare, in an order in which everything is declared before it is
/// used, in the place that its preamble has for it.
pub(crate) fn header(home: &Path, sources: &[&str]) -> String {
    let mut header = Header::default();
    let files: Vec<syn::File> = sources.iter().map(|name| parsed(home, name)).collect();
    for file in &files {
        header.types(file);
    }
    for file in &files {
        header.functions(file);
    }
    let preamble = fs::read_to_string(home.join("tests/header/preamble.h")).expect("it");
    preamble.replace("@DECLARATIONS@\n", &header.text())
}

fn parsed(home: &Path, name: &str) -> syn::File {
    let text = fs::read_to_string(home.join(format!("src/{name}.rs"))).expect("a source");
    syn::parse_file(&text).expect("Rust")
}

/// The declarations, as they grow.
#[derive(Default)]
struct Header {
    text: String,
}

impl Header {
    fn text(self) -> String {
        self.text
    }

    /// Everything public of a file that is no function: constants, enums, structures.
    fn types(&mut self, file: &syn::File) {
        for item in &file.items {
            match item {
                Item::Const(item) if is_public(&item.vis) => self.constant(item),
                Item::Enum(item) if is_public(&item.vis) => self.numbers(item),
                Item::Struct(item) if is_public(&item.vis) && is_for_c(&item.attrs) => {
                    self.structure(item);
                }
                Item::Mod(item) => self.by_width(item),
                _ => {}
            }
        }
    }

    /// The functions of a file.
    fn functions(&mut self, file: &syn::File) {
        for item in &file.items {
            if let Item::Fn(item) = item
                && item.sig.abi.is_some()
            {
                self.function(item);
            }
        }
    }

    fn comment(&mut self, indent: &str, attributes: &[Attribute]) {
        let lines = documentation(attributes);
        let filled = fill(&lines, COLUMNS - indent.len() - 6);
        assert!(!filled.is_empty(), "without a comment nobody knows what it is");
        let last = filled.len() - 1;
        for (at, line) in filled.iter().enumerate() {
            let open = if at == 0 { "/* " } else { " * " };
            let close = if at == last { " */" } else { "" };
            let _ = writeln!(self.text, "{}", format!("{indent}{open}{line}{close}").trim_end());
        }
    }

    fn constant(&mut self, item: &ItemConst) {
        self.comment("", &item.attrs);
        let value = value(&item.expr);
        let value = if value.starts_with('-') { format!("({value})") } else { value };
        let _ = writeln!(self.text, "#define TANDEM_{} {value}\n", item.ident);
    }

    /// Constants that depend on the width of pointers.
    fn by_width(&mut self, item: &ItemMod) {
        let width = item.attrs.iter().find_map(|attribute| match &attribute.meta {
            Meta::List(list) if list.path.is_ident("cfg") => {
                let tokens = list.tokens.to_string();
                tokens.starts_with("target_pointer_width").then_some(tokens)
            }
            _ => None,
        });
        let (Some(width), Some((_, items))) = (width, &item.content) else { return };
        let compare = if width.contains("32") { "<=" } else { ">" };
        let _ = writeln!(self.text, "#if UINTPTR_MAX {compare} 0xFFFFFFFFu");
        for item in items {
            if let Item::Const(item) = item {
                self.constant(item);
            }
        }
        self.text.push_str("#endif\n\n");
    }

    fn numbers(&mut self, item: &ItemEnum) {
        self.comment("", &item.attrs);
        let name = snake(&item.ident.to_string());
        let _ = writeln!(self.text, "enum tandem_{name} {{");
        let prefix = if name == "error" { "E".into() } else { name.to_uppercase() };
        for variant in &item.variants {
            self.comment("    ", &variant.attrs);
            let (_, number) = variant.discriminant.as_ref().expect("a number");
            let name = snake(&variant.ident.to_string()).to_uppercase();
            let _ = writeln!(self.text, "    TANDEM_{prefix}_{name} = {},", value(number));
        }
        self.text.push_str("};\n\n");
    }

    fn structure(&mut self, item: &ItemStruct) {
        self.comment("", &item.attrs);
        let name = type_name(&item.ident.to_string());
        let tag = name.trim_end_matches("_t").to_owned();
        let open: Vec<&Field> = item.fields.iter().filter(|field| is_public(&field.vis)).collect();
        if open.is_empty() {
            let _ = writeln!(self.text, "typedef struct {tag} {name};\n");
            return;
        }
        let _ = writeln!(self.text, "typedef struct {tag} {{");
        for field in open {
            self.comment("    ", &field.attrs);
            let field_name = field.ident.as_ref().expect("a name").to_string();
            let _ = writeln!(self.text, "    {};", declared(&field.ty, &field_name));
        }
        let _ = writeln!(self.text, "}} {name};\n");
    }

    fn function(&mut self, item: &ItemFn) {
        self.comment("", &item.attrs);
        let arguments: Vec<String> = item.sig.inputs.iter().map(argument).collect();
        let head = format!("{}(", returned(&item.sig.output, &item.sig.ident.to_string()));
        let one_line = format!("{head}{});", arguments.join(", "));
        if one_line.len() <= COLUMNS {
            let _ = writeln!(self.text, "{one_line}\n");
        } else {
            let _ = writeln!(self.text, "{head}\n    {});\n", arguments.join(",\n    "));
        }
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_for_c(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("repr"))
}

/// The lines of a documentation comment.
fn documentation(attributes: &[Attribute]) -> Vec<String> {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    lines.map(|line| line.replace('`', "").replace('…', "...")).collect()
}

/// Fills paragraphs into so many columns.
fn fill(lines: &[String], columns: usize) -> Vec<String> {
    let mut filled: Vec<String> = Vec::new();
    let mut begins = true;
    for line in lines {
        if line.is_empty() {
            filled.push(String::new());
            begins = true;
            continue;
        }
        for word in line.split_whitespace() {
            match filled.last_mut() {
                Some(last)
                    if !begins && last.chars().count() + 1 + word.chars().count() <= columns =>
                {
                    last.push(' ');
                    last.push_str(word);
                }
                _ => filled.push(word.to_owned()),
            }
            begins = false;
        }
    }
    filled
}

fn value(expression: &Expr) -> String {
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => number.base10_digits().to_owned(),
            _ => panic!("a constant of C's is a number"),
        },
        Expr::Unary(unary) => format!("-{}", value(&unary.expr)),
        _ => panic!("a constant of C's is a literal"),
    }
}

/// `TwoWords` as `two_words`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for (at, letter) in name.chars().enumerate() {
        if letter.is_uppercase() && at > 0 {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

fn type_name(name: &str) -> String {
    let snake = snake(name);
    if snake.starts_with("tandem") { format!("{snake}_t") } else { format!("tandem_{snake}_t") }
}

/// A plain type, without pointers.
fn plain(path: &syn::TypePath) -> String {
    let name = path.path.segments.last().expect("a name").ident.to_string();
    match name.as_str() {
        "i32" => "int32_t".into(),
        "u8" => "uint8_t".into(),
        "u32" => "uint32_t".into(),
        "u64" => "uint64_t".into(),
        "usize" => "size_t".into(),
        "c_void" => "void".into(),
        "c_char" => "char".into(),
        name => type_name(name),
    }
}

/// A declaration of that name: `const char *what`, `int32_t (*read)(…)`.
fn declared(kind: &Type, name: &str) -> String {
    match kind {
        Type::Ptr(pointer) => {
            let inner = declared(&pointer.elem, &format!("*{name}"));
            let constant = matches!(pointer.mutability, syn::PointerMutability::Const(_));
            if constant { format!("const {inner}") } else { inner }
        }
        Type::Path(path) => match function_in(path) {
            Some(function) => {
                let arguments: Vec<String> = function
                    .inputs
                    .iter()
                    .map(|argument| {
                        let (name, _) = argument.name.as_ref().expect("a name");
                        declared(&argument.ty, &name.to_string())
                    })
                    .collect();
                let head = returned(&function.output, &format!("(*{name})"));
                format!("{head}({})", arguments.join(", "))
            }
            None => format!("{} {name}", plain(path)),
        },
        Type::Array(array) => declared(&array.elem, &format!("{name}[{}]", value(&array.len))),
        _ => panic!("C does not know the type of {name}"),
    }
}

/// The function of an `Option<extern "C" fn …>`.
fn function_in(path: &syn::TypePath) -> Option<&syn::TypeFnPtr> {
    let PathArguments::AngleBracketed(arguments) = &path.path.segments.last()?.arguments else {
        return None;
    };
    match arguments.args.first()? {
        GenericArgument::Type(Type::FnPtr(function)) => Some(function),
        _ => None,
    }
}

fn returned(output: &ReturnType, name: &str) -> String {
    match output {
        ReturnType::Default => format!("void {name}"),
        ReturnType::Type(_, kind) => declared(kind, name),
    }
}

fn argument(argument: &FnArg) -> String {
    let FnArg::Typed(typed) = argument else { panic!("C has no self") };
    let syn::Pat::Ident(name) = &*typed.pat else { panic!("an argument has a name") };
    declared(&typed.ty, &name.ident.to_string())
}
