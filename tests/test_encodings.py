"""Tables of older programs: their encoding is told by their words, also where these are few."""

import numpy as np
import pytest
from numpy.typing import NDArray

from mklviz.datasets import DataError, read_dataset_bytes

WORDS = {
    ("cp1252", "Windows-1252"): (
        "größe geschäft männlich weiblich jährlich köln münchen österreich höhe länge gemüse märz kühl heiß",
        "année âge région élevé célibataire divorcé août février décembre québec forêt très étranger",
        "año niño niña población córdoba málaga méxico mañana dirección número categoría público árbol",
        "ação não são educação saúde município mês água maçã irmão solteiro viúvo área média",
        "kön ålder år malmö göteborg örebro grön röd människa låg hög större försäljning",
    ),
    ("cp1250", "Windows-1250"): (
        "płeć mężczyzna miesiąc łódź gdańsk wrocław żółty mały średni województwo wartość sprzedaż dziecko",
        "město věk muž žena příjem měsíc září plzeň střední počet výška šířka třída číslo zákazník",
    ),
    ("cp1251", "Windows-1251"): (
        "пол мужской женский возраст город москва казань да нет большой малый средний количество цена товар",
    ),
    ("cp1253", "Windows-1253"): ("φύλο άνδρας γυναίκα ηλικία πόλη αθήνα ναι όχι μεγάλο μικρό κατηγορία τιμή",),
    ("cp1254", "Windows-1254"): ("kadın yaş şehir eskişehir hayır büyük küçük yüksek düşük değer ağırlık sınıf",),
    ("cp1255", "Windows-1255"): ("גבר אישה גיל ירושלים חיפה גדול קטן בינוני גבוה נמוך ערך חודש מחיר כמות",),
    ("cp1256", "Windows-1256"): ("الجنس ذكر أنثى العمر المدينة القاهرة الرياض نعم كبير صغير متوسط السعر",),
    ("cp1257", "Windows-1257"): ("amžius šiauliai klaipėda panevėžys didelis mažas aukštas žemas klasė reikšmė mėnuo",),
    ("gbk", "GBK"): ("性别 年龄 城市 北京 上海 广州 类别 数值 日期 价格 数量 产品 销售 客户 收入 红色 良好 较差",),
    ("big5", "Big5"): ("性別 年齡 城市 臺北 高雄 臺中 類別 數值 日期 價格 數量 產品 銷售 客戶 收入 紅色 良好 較差",),
    ("shift_jis", "Shift-JIS"): (
        "性別 男性 女性 東京 はい いいえ 大きい 小さい クラス 価格 データ りんご カテゴリ 良い 悪い",
    ),
    ("euc_kr", "EUC-KR"): ("성별 남자 여자 나이 도시 서울 부산 대구 높음 낮음 가격 수량 판매 고객 합격 불합격",),
}
UKRAINIAN = "стать вік місто київ львів україна так ні великий малий середній кількість ціна товар їжа єдиний"
RUSSIAN, JAPANESE = WORDS["cp1251", "Windows-1251"], WORDS["shift_jis", "Shift-JIS"]
WORDS |= {
    ("koi8-r", "KOI8-R"): RUSSIAN,
    ("koi8-u", "KOI8-U"): (UKRAINIAN,),
    ("euc_jp", "EUC-JP"): JAPANESE,
    ("cp850", "CP850"): WORDS["cp1252", "Windows-1252"],
    ("cp852", "CP852"): WORDS["cp1250", "Windows-1250"],
    ("cp866", "CP866"): RUSSIAN,
    ("iso8859-2", "ISO8859-2"): WORDS["cp1250", "Windows-1250"],
    ("iso8859-5", "ISO8859-5"): RUSSIAN,
    ("iso2022_jp", "ISO-2022-JP"): JAPANESE,
    ("cp874", "Windows-874"): ("เพศ ชาย หญิง อายุ เมือง กรุงเทพ เชียงใหม่ ใช่ ไม่ใช่ ใหญ่ เล็ก กลาง ราคา สินค้า จำนวน",),
}
CASES = [(*called, words.split()) for called, lists in WORDS.items() for words in lists]


def table(words: list[str] | NDArray[np.str_], rows: int = 30) -> str:
    """Return a table with two words as names, and four others as classes."""
    names, classes = words[:2], words[2:6]
    lines = [f"{row / 7:.2f},{row % 5},{classes[row % len(classes)]}" for row in range(rows)]
    return "\n".join([",".join([*names, "y"]), *lines])


@pytest.mark.parametrize(("encoding", "called", "words"), CASES)
def test_the_encoding_of_a_table_is_told_by_a_few_words_of_its_language(
    encoding: str, called: str, words: list[str]
) -> None:
    rng, right = np.random.default_rng(0), 0
    for _ in range(20):
        text = table(rng.permutation(words))
        if text.isascii():
            continue
        found = read_dataset_bytes(text.encode(encoding), "mine.csv")
        right += {*found.classes} == {line.rpartition(",")[2] for line in text.splitlines()[1:]}
        assert called in "".join(found.notes) or {*found.classes}.isdisjoint(text)
    assert right >= 18  # two tables may well hold words that are words in another encoding


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        *(
            ("cp1250", words)
            for words in ("moški ženska", "šola občina", "muško žensko", "mężczyzna gdańsk", "muž žena")
        ),
        *(("cp1252", words) for words in ("zürich genève", "població gènere", "één coöperatie", "jalapeño té")),
    ],
)
def test_two_words_are_read_in_the_encoding_of_more_people(encoding: str, words: str) -> None:
    found = read_dataset_bytes(table(["a", "b", *words.split()]).encode(encoding), "mine.csv")
    assert {*found.classes} == {*words.split()}


def test_a_table_that_may_be_in_two_encodings_says_so_and_either_can_be_chosen_and_escapes_stay() -> None:
    text = table(["价格", "红色", "北京", "本科", "价格", "红色"])
    found = read_dataset_bytes(text.encode("gbk"), "mine.csv")
    said = next(note for note in found.notes if "not UTF-8" in note)
    assert "It may well be " in said
    chosen = read_dataset_bytes(text.encode("gbk"), "mine.csv", encoding="gbk")
    assert "北京" in chosen.classes
    assert not any("not UTF-8" in note for note in chosen.notes)
    found = read_dataset_bytes(b"a,y\n" + b"1,\x1b$x\n2,v\n" * 9, "mine.csv")
    assert "\x1b$x" in found.classes


@pytest.mark.parametrize(
    ("name", "data", "option", "said"),
    [
        ("mine.csv", b"a,y\n1,u\n2,v\n", {"sheet": "first"}, "sheet, which is for workbooks"),
        ("mine.csv", b"a,y\n1,u\n2,v\n", {"missing_view": "average"}, "missing_view, which is for several tables"),
        ("mine.libsvm", b"1 1:2\n-1 1:3\n", {"target": "y"}, "target, which is for tables with named columns"),
        ("mine.libsvm", b"1 1:2\n-1 1:3\n", {"decimal": ","}, "decimal, which is for numbers in texts"),
        ("mine.arff", b"@relation t\n@attribute a real\n@attribute y {u,v}\n@data\n1,u\n", {"header": 2}, "header"),
        ("mine.json", b'[{"a": 1, "y": "u"}, {"a": 2, "y": "v"}]', {"sep": ";"}, "sep, which is for texts"),
    ],
)
def test_an_option_that_a_file_does_not_heed_is_refused_in_a_sentence(name, data, option, said) -> None:
    with pytest.raises(DataError, match=f"{name} has no use for {said}"):
        read_dataset_bytes(data, name, **option)
